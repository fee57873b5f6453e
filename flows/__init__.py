"""The night, composed: flows order tasks and hold no logic of their own."""
