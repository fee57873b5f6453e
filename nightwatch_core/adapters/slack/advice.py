"""What to do about each way Slack says no."""

from collections.abc import Mapping

INVITE = "invite the app there with /invite, or give it the scope chat:write.public"
REINSTALL = "install the app again and put its new bot token (xoxb-…) into SLACK_BOT_TOKEN"
ADVICE: Mapping[str, str] = {
    "channel_not_found": "SLACK_CHANNEL names no conversation this app can see: copy the id from "
    "the channel's details (C… or G…); into a private channel the app must be invited with /invite",
    "not_in_channel": INVITE,
    "is_archived": "the channel is archived: name another one in SLACK_CHANNEL",
    "invalid_auth": "SLACK_BOT_TOKEN is not a token Slack knows: copy it again from the app's page",
    "not_authed": "set SLACK_BOT_TOKEN",
    "token_revoked": REINSTALL,
    "token_expired": REINSTALL,
    "account_inactive": REINSTALL,
    "not_allowed_token_type": "SLACK_BOT_TOKEN must be a bot token (xoxb-…)",
    "users_not_found": "nobody in this workspace has the e-mail address in SLACK_CHANNEL",
    "user_not_found": "nobody in this workspace has the user id in SLACK_CHANNEL",
    "user_disabled": "the person in SLACK_CHANNEL has been deactivated: name another one",
    "cannot_dm_bot": "SLACK_CHANNEL is a bot: name a person or a channel",
    "restricted_action": "apps may not post there: ask the workspace's administrator",
    "no_permission": "the workspace's settings forbid it: ask its administrator",
    "access_denied": "the workspace's settings forbid it: ask its administrator",
    "ekm_access_denied": "the workspace's administrators have suspended posting",
    "enterprise_is_restricted": "the organisation does not allow this app: ask its administrator",
    "team_access_not_granted": "the organisation has not granted the app this workspace",
    "message_limit_exceeded": "the workspace may send no more messages this month",
    "invalid_blocks": "Slack takes neither the blocks nor the plain text: the report is in files",
    "msg_blocks_too_long": "the message is too long even as plain text: the report is in files",
    "msg_too_long": "the message is too long: the report is in files",
    "invalid_metadata_format": "Slack refuses the message's metadata: please report this",
    "message_not_found": "the message has been deleted",
    "thread_not_found": "the night's message has been deleted: run again to post it anew",
    "unknown_method": "SLACK_API_URL is no Slack API",
}
TEMPORARY = frozenset(  # nothing was done
    {"ratelimited", "rate_limited", "service_unavailable", "request_timeout"}
    | {"team_added_to_org", "org_login_required", "accesslimited"}
)
AMBIGUOUS = frozenset({"fatal_error", "internal_error"})  # some of it may have been done
BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
THREAD_GONE = frozenset({"thread_not_found", "message_not_found", "cannot_reply_to_message"})


def advice(code: str, needed: str) -> str:
    """What to do about an error code; `needed` is the scope that Slack says is missing.

    >>> advice("missing_scope", "im:write")
    'give the app the scope im:write (OAuth & Permissions), then install it again'
    """
    if code == "missing_scope":
        scope = needed or "that the method needs"
        return f"give the app the scope {scope} (OAuth & Permissions), then install it again"
    return ADVICE.get(code, "see the method's page at https://docs.slack.dev/reference/methods")
