import { shorten } from '../../../contract/shorten.ts'
import type { PlannedNode } from '../wire/workflows.ts'

const LONGEST = 120

/** What a step does, in a few words: its tool, its command, its question, the workflow inside it. */
export function labelOfNode({
  kind,
  tool,
  command,
  question,
  workflow,
  concurrency,
}: PlannedNode): string {
  const many = concurrency === undefined ? '' : `, ${concurrency} at a time`
  return shorten(
    command ??
      tool ??
      question ??
      (workflow === undefined ? `${WORDS[kind] ?? kind}${many}` : `workflow ${workflow}`),
    LONGEST,
  )
}

const WORDS: { readonly [kind: string]: string } = {
  ai_decision: 'decision',
  parallel: 'in parallel',
  each: 'for each',
  wait: 'wait',
}
