"""Errors of projects in Sentry, SaaS or self-hosted: its web API, its issues and their events.

What an event says is read by `adapters/files/`, which knows exports of Sentry.
"""
