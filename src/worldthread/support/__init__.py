"""What all parts use: checks of arguments, settings, progress, extensions, and the addresses of servers."""
