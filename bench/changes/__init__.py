"""Conversations in which what a user said is replaced, ended or corrected later, or stays true."""
