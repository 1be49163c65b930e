"""Whether a question asks for a thing or for an overview of everything."""

from __future__ import annotations

import regex

from holodeck.lib.providers.extractive.words import STOP_WORDS, content_terms, word_set

__all__ = ["is_about_everything"]

_OVERVIEW = word_set(
    "theme themes topic topics summary summarize summarise overview subject subjects gist main "
    "about key important importance central major point points idea ideas content contents story "
    "document documents text texts corpus dataset data collection cover covered discussed file "
    "files insight insights finding findings overall top five three ten common significant source "
    "sources"
)
_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_CHINESE_OVERVIEW = regex.compile(r"主题|主題|概述|概要|总结|總結|要点|要點|主要内容|主要內容|大意")
_CHINESE_FILLER = regex.compile(
    r"主题|主題|概述|概要|总结|總結|要点|要點|大意|主要|内容|內容|重要|这些|這些|这个|這個|文档|文檔|文件|资料|資料|什么|什麼|哪些|哪个"
    r"|[请請给給我是有的了在里裡中吗嗎呢一下份些篇和与與]"
)


def is_about_everything(question: str) -> bool:
    """Tell whether ``question`` names nothing to look for ("What are the main themes?")."""
    if _CHINESE_OVERVIEW.search(question):
        return not content_terms(_CHINESE_FILLER.sub("", question))
    words = [word.casefold() for word in _WORDS.findall(question)]
    asked = [word for word in words if word in _OVERVIEW]
    return bool(asked) and all(word in _OVERVIEW or word in STOP_WORDS for word in words)
