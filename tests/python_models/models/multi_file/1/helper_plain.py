def whisper(text):
    return text.lower()
