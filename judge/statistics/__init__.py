"""What results say of strength, and how surely: ratings, sequential tests, and what they rest on."""
