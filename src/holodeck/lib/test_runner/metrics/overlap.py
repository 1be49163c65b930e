"""How many words the answer shares with the ground truth."""

from __future__ import annotations

from collections import Counter

from holodeck.lib.quantities import number_of
from holodeck.lib.test_runner.metrics.words import words
from holodeck.lib.test_runner.scores import Sample
from holodeck.models.evaluation import Metric

__all__ = ["bleu", "f1", "rouge_l"]


def f1(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Harmonic mean of precision and recall over words, as in SQuAD (Rajpurkar et al., 2016)."""
    given, wanted = Counter(words(sample.answer)), Counter(words(_truth(sample)))
    shared = (given & wanted).total()
    if not shared:
        return 0.0, "no word in common"
    precision, recall = shared / given.total(), shared / wanted.total()
    return 2 * precision * recall / (precision + recall), f"{number_of(shared, 'words')} in common"


def rouge_l(sample: Sample, metric: Metric) -> tuple[float, str]:
    """F-measure of the longest common subsequence of words (Lin, 2004), by ``rouge-score``."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], tokenizer=_Words())
    found = scorer.score(_truth(sample), sample.answer)["rougeL"]
    return float(found.fmeasure), f"precision {found.precision:.2f}, recall {found.recall:.2f}"


def bleu(sample: Sample, metric: Metric) -> tuple[float, str]:
    """BLEU of one sentence with effective order (Papineni et al., 2002), by ``sacrebleu``."""
    from sacrebleu import sentence_bleu

    given, wanted = " ".join(words(sample.answer)), " ".join(words(_truth(sample)))
    found = sentence_bleu(given, [wanted], tokenize="none", use_effective_order=True)
    return min(1.0, found.score / 100), f"brevity penalty {found.bp:.2f}"


class _Words:
    """Our words for ``rouge-score``, whose own tokenizer knows Latin letters only."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


def _truth(sample: Sample) -> str:
    return sample.expected.ground_truth or ""
