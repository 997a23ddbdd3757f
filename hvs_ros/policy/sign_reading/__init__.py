"""What the ``signs`` policy is made of: reading text, understanding the request, matching the two, arrows, memory."""
