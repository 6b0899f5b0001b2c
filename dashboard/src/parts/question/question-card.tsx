import { useRef, useState } from 'preact/hooks'
import type { Interaction } from '../../../../src/protocol/events.ts'
import type { Decision } from '../../../../src/views/model/api.ts'
import { isReadOnly } from '../../state/about.ts'
import { announce } from '../../state/announce.ts'
import { ApiError, post } from '../../state/api.ts'
import { JsonView } from '../json-view.tsx'
import { Problem } from '../notes.tsx'
import { RunLink, Subject } from '../run-cells.tsx'
import { Ago, Until } from '../time.tsx'
import { AnswerForm } from './answer-form.tsx'
import { valueText } from './value-text.ts'

const KNOWN = [
  'id',
  'kind',
  'prompt',
  'schema',
  'options',
  'default',
  'timeout',
  'dialogue',
  'problem',
  'sampling',
  'key',
  'action',
]

type Props = {
  readonly decision: Decision
  /** Told when the answer has been taken. */
  onAnswered?(): void
  /** Told when another answer was there before. */
  onTooLate?(): void
  /** Told when somebody begins to answer. */
  onTouch?(): void
  /** Leaves out which run asks, on the page of that run. */
  readonly brief?: boolean
}

/** An open question that can be answered in place. */
export function QuestionCard({ decision, onAnswered, onTooLate, onTouch, brief = false }: Props) {
  const { run_id, asked, deadline } = decision
  const question = decision.question as Partial<Interaction> & {
    readonly id: string
    readonly [field: string]: unknown
  }
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const card = useRef<HTMLElement>(null)
  const answer = async (value: unknown): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      await post(`/runs/${encodeURIComponent(run_id)}/answer`, {
        question: question.id,
        value,
        ...(note !== '' && { note }),
      })
      announce(`Answered: ${valueText(value)}`)
      card.current?.focus()
      onAnswered?.()
    } catch (thrown) {
      setBusy(false)
      if (
        thrown instanceof ApiError &&
        (thrown.code === 'CONFLICT' || thrown.code === 'PRECONDITION')
      )
        onTooLate?.()
      else setError(thrown)
    }
  }
  const context = Object.fromEntries(
    Object.entries(question).filter(([name]) => !KNOWN.includes(name)),
  )
  const heading = `question-${run_id}-${question.id}`
  return (
    <article
      class="card question"
      aria-labelledby={heading}
      tabIndex={-1}
      ref={card}
      data-question={question.id}
    >
      <header class="line">
        <span class="badge warn">
          <span class="symbol" aria-hidden="true">
            ?
          </span>
          {question.kind ?? 'question'}
        </span>
        {!brief && (
          <>
            <Subject row={decision} />
            <RunLink id={run_id} />
          </>
        )}
        <span class="dim push">
          asked <Ago at={asked} />
        </span>
      </header>
      <h3 id={heading}>{question.prompt ?? question.id}</h3>
      {question.problem !== undefined && (
        <p class="warn">The last answer was refused: {question.problem}</p>
      )}
      {Object.keys(context).length > 0 && (
        <JsonView
          value={
            context['context'] !== undefined && Object.keys(context).length === 1
              ? context['context']
              : context
          }
          copy={false}
        />
      )}
      {question.sampling?.system !== undefined && <p class="dim">{question.sampling.system}</p>}
      <AnswerForm
        question={question}
        disabled={busy || isReadOnly()}
        onAnswer={(value) => void answer(value)}
        onTouch={() => onTouch?.()}
      />
      <footer class="line">
        <input
          class="note"
          aria-label="Note (optional)"
          placeholder="Note (optional)"
          value={note}
          disabled={isReadOnly()}
          onInput={(event) => {
            setNote(event.currentTarget.value)
            onTouch?.()
          }}
        />
        <span class="dim">
          {deadline !== undefined && (
            <>
              {question.default === undefined ? (
                'fails'
              ) : (
                <>
                  takes <code>{valueText(question.default)}</code>
                </>
              )}{' '}
              in <Until at={deadline} over="a moment" />
            </>
          )}
        </span>
      </footer>
      {isReadOnly() && (
        <p class="dim">
          This page is for reading only; answer with <code>toolable answer {run_id}</code>.
        </p>
      )}
      {error !== undefined && <Problem error={error} />}
    </article>
  )
}
