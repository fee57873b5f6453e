"""Delivery without a service: issues and drafts as files, and what a dry run writes to."""
