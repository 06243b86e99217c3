"""What several releases cost together, from all that is known of each: its whole privacy profile, not one number."""
