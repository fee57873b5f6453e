"""What people and agents learned: notes, task files, the researcher, promotion."""
