import { availableParallelism } from 'node:os'
import { probe } from './probe.ts'
import { explainSurprise } from './refusals.ts'
import type { Candidate, ProbeOptions, Verdict } from './verdict.ts'

/** Asks all candidates what they are, as many at the same time as there are cores, and tells each verdict as soon as it is there. Never throws: whatever one of them does, the others are asked. */
export async function probeAll(
  candidates: readonly Candidate[],
  options: ProbeOptions,
  onVerdict: (candidate: Candidate, verdict: Verdict) => void,
): Promise<void> {
  const rest = candidates.values()
  // More probes than slots, because those that wait for a silent child hold no slot.
  const workers = Array.from(
    {
      length: Math.min(
        candidates.length,
        (options.concurrency ?? availableParallelism()) + WAITING,
      ),
    },
    async () => {
      for (const candidate of rest)
        onVerdict(candidate, await probe(candidate, options).catch(explainSurprise))
    },
  )
  await Promise.all(workers)
}

const WAITING = 32
