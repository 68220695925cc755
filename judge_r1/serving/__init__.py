"""A judge behind an API: the app, its queue, its cases, its keys, its page."""
