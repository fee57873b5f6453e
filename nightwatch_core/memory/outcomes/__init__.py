"""What became of our proposals: followed up, measured in production, counted on the scoreboard.

What people are told of it belongs to `report`; asking the tracker is an adapter's.
"""
