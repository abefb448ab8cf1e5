"""The only package that uses pygit2 and the git binary."""
