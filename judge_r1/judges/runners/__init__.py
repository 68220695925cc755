"""Judges that play games side by side: behind an endpoint (they need the extra `endpoints` and are imported where one
is asked for), or as they are served."""
