"""Rules a person might add to ignore.yml: argued, narrowed, and tried on the nights that were."""
