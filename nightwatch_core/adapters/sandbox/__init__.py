"""Run what nobody has read: in bubblewrap or namespaces, never bare."""
