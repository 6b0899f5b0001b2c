import { compact } from '../../../../src/util/values.ts'
import { listOpenQuestions } from '../../../../src/views/model/run-model.ts'
import { QuestionCard } from '../../parts/questions.tsx'
import type { LiveRun } from './live.ts'

/** The questions of a run that wait for an answer, each with its form. */
export default function OpenQuestions({ run: { model, reload } }: { readonly run: LiveRun }) {
  const open = listOpenQuestions(model)
  if (open.length === 0) return null
  return (
    <section class="stack" aria-label="Waiting for you">
      {open.map(({ question, asked, deadline }) => (
        <QuestionCard
          key={question.id}
          brief
          onAnswered={reload}
          onTooLate={reload}
          decision={compact({
            run_id: model.run_id,
            tool: model.tool,
            run_state: model.state,
            question,
            asked: new Date(asked).toISOString(),
            deadline: deadline === undefined ? undefined : new Date(deadline).toISOString(),
          })}
        />
      ))}
    </section>
  )
}
