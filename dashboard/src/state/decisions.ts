import { useEffect } from 'preact/hooks'
import type { Decision, DecisionList } from '../../../src/views/model/api.ts'
import type { Resource } from './resource.ts'
import { useDocument } from './resource.ts'
import { gaps, onRows } from './stream.ts'

/** A name for a question that no other has. */
export function getDecisionKey({ run_id, question, asked }: Decision): string {
  return `${run_id} ${question.id} ${asked}`
}

/**
 * The questions of all runs and who answered them, asked for anew whenever a run that has or had
 * one says something.
 */
export function useDecisions(): Resource<DecisionList> {
  const decisions = useDocument<DecisionList>('/decisions')
  const open = decisions.value?.open
  const missed = gaps.value
  useEffect(() => {
    if (missed > 0) decisions.reload()
  }, [missed])
  useEffect(
    () =>
      onRows(({ rows, open: count }) => {
        const ours = new Set(open?.map(({ run_id }) => run_id))
        if (
          count !== (open?.length ?? 0) ||
          rows.some((row) => row.questions > 0 || ours.has(row.run_id))
        )
          decisions.reload()
      }),
    [open],
  )
  return decisions
}
