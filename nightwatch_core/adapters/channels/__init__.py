"""The team's other channels: a night's digest by e-mail, to Teams, Mattermost or a webhook.

What a night has to tell belongs to `report/`, rich messages to `slack/`.
"""
