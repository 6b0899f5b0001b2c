import { useRef, useState } from 'preact/hooks'
import type { Interaction } from '../../../src/protocol/events.ts'
import { shorten } from '../../../src/util/text.ts'
import { compact } from '../../../src/util/values.ts'
import type { Decision, DecisionList } from '../../../src/views/model/api.ts'
import { isReadOnly } from '../state/about.ts'
import { announce } from '../state/announce.ts'
import { ApiError, post } from '../state/api.ts'
import { getDecisionKey } from '../state/decisions.ts'
import type { Resource } from '../state/resource.ts'
import { JsonView } from './json-view.tsx'
import { lazy } from './lazy.tsx'
import { RunLink, runPath, Subject } from './links.tsx'
import { Problem } from './notes.tsx'
import { Badge } from './state-badge.tsx'
import { Ago, Until } from './time.tsx'

/** Every open question as a card with a form; an answer that comes too late shows who was first. */
export function OpenQuestions({ decisions }: { readonly decisions: Resource<DecisionList> }) {
  const { open = [], past = [] } = decisions.value ?? {}
  // Questions with a half-written answer, as they were.
  const begun = useRef(new Map<string, Decision>())
  const [late, setLate] = useState<readonly Decision[]>([])
  const isOpen = new Set(open.map(getDecisionKey))
  const lost = new Map(
    [
      ...late,
      ...[...begun.current.values()].filter((decision) => !isOpen.has(getDecisionKey(decision))),
    ].map((decision) => [getDecisionKey(decision), decision]),
  )
  const forget = (decision: Decision): void => {
    begun.current.delete(getDecisionKey(decision))
    setLate((before) => before.filter((one) => getDecisionKey(one) !== getDecisionKey(decision)))
    decisions.reload()
  }
  return (
    <div class="questions">
      {[...lost.values()].map((decision) => (
        <Faster
          key={getDecisionKey(decision)}
          decision={
            past.find((one) => getDecisionKey(one) === getDecisionKey(decision)) ?? decision
          }
          onClose={() => forget(decision)}
        />
      ))}
      {open
        .filter((decision) => !lost.has(getDecisionKey(decision)))
        .map((decision) => (
          <QuestionCard
            key={getDecisionKey(decision)}
            decision={decision}
            onTouch={() => begun.current.set(getDecisionKey(decision), decision)}
            onAnswered={() => {
              begun.current.delete(getDecisionKey(decision))
              decisions.reload()
            }}
            onTooLate={() => {
              setLate((before) => [...before, decision])
              decisions.reload()
            }}
          />
        ))}
    </div>
  )
}

function Faster({
  decision: { question, answered, withdrawn },
  onClose,
}: {
  readonly decision: Decision
  onClose(): void
}) {
  return (
    <div class="card faster" role="status">
      <p>
        <strong>
          {withdrawn ? 'This question is not asked any more.' : 'Somebody was faster.'}
        </strong>{' '}
        “{question.prompt ?? question.id}”
        {answered && (
          <>
            {' '}
            was answered with <code>{valueText(answered.value)}</code>
            {answered.by !== undefined && ` by ${answered.by}`} <Ago at={answered.at} />
          </>
        )}
        . {!withdrawn && 'Your answer was not needed.'}
      </p>
      <button type="button" onClick={onClose}>
        All right
      </button>
    </div>
  )
}

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
  /** Called when the answer was accepted. */
  onAnswered?(): void
  /** Called when another answer was first. */
  onTooLate?(): void
  /** Called when the user starts to answer. */
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
      await post(
        `${runPath(run_id)}/answer`,
        compact({ question: question.id, value, note: note || undefined }),
      )
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
        <Badge role="warn" symbol="?">
          {question.kind ?? 'question'}
        </Badge>
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

// Most questions have buttons: the form comes with the first that needs one.
const SchemaForm = lazy(() => import('./schema-form/form.tsx'))

type AnswerProps = {
  readonly question: Partial<Interaction>
  readonly disabled: boolean
  onAnswer(value: unknown): void
  onTouch(): void
}

/**
 * What one answers a question with: buttons where the answers are known, a form where a schema says
 * what is wanted, else a text.
 */
export function AnswerForm(props: AnswerProps) {
  const { kind, options = [], schema, dialogue } = props.question
  if (kind === 'confirm')
    return (
      <Choices
        {...props}
        choices={[
          { value: true, label: 'Yes' },
          { value: false, label: 'No' },
        ]}
      />
    )
  if (options.length > 0) return <Choices {...props} choices={options} />
  if (schema) return <FormAnswer {...props} schema={schema} />
  return dialogue ? (
    <FormAnswer {...props} schema={{ type: 'object' }} />
  ) : (
    <TextAnswer {...props} />
  )
}

type Choice = { readonly value: unknown; readonly label?: string; readonly description?: string }

function Choices({
  question,
  disabled,
  onAnswer,
  choices,
}: AnswerProps & { readonly choices: readonly Choice[] }) {
  return (
    <ul class="choices" aria-label="Answers">
      {choices.map(({ value, label, description }, index) => {
        const isDefault = question.default === value
        return (
          <li key={String(value)}>
            <button
              type="button"
              class={index === 0 && question.kind === 'confirm' ? 'primary' : ''}
              disabled={disabled}
              onClick={() => onAnswer(value)}
            >
              {label ?? String(value)}
            </button>
            {(description !== undefined || isDefault) && (
              <span class="dim">
                {description}
                {isDefault && ' (default)'}
              </span>
            )}
          </li>
        )
      })}
    </ul>
  )
}

function FormAnswer({
  question,
  disabled,
  onAnswer,
  onTouch,
  schema,
}: AnswerProps & { readonly schema: NonNullable<Interaction['schema']> }) {
  const [draft, setDraft] = useState<{ readonly value: unknown; readonly ok: boolean }>({
    value: question.default,
    ok: true,
  })
  const change = (value: unknown, ok: boolean): void => setDraft({ value, ok })
  return (
    <form
      class="stack"
      onInput={onTouch}
      onSubmit={(event) => {
        event.preventDefault()
        onAnswer(draft.value)
      }}
    >
      <SchemaForm schema={schema} value={draft.value} onChange={change} label="Answer" />
      <span>
        <button type="submit" class="primary" disabled={disabled || !draft.ok}>
          Send the answer
        </button>
      </span>
    </form>
  )
}

function TextAnswer({ question, disabled, onAnswer, onTouch }: AnswerProps) {
  const [text, setText] = useState(typeof question.default === 'string' ? question.default : '')
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        onAnswer(text)
      }}
    >
      <textarea
        aria-label="Answer"
        rows={question.kind === 'sample' ? 6 : 2}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          onTouch()
        }}
      />
      <span>
        <button type="submit" class="primary" disabled={disabled || text === ''}>
          Send the answer
        </button>
      </span>
    </form>
  )
}

const LONGEST = 200

/** An answer in one line. */
export function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return shorten(typeof value === 'string' ? value : (JSON.stringify(value) ?? '–'), LONGEST)
}
