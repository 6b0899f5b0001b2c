import { useRef, useState } from 'preact/hooks'
import type { Decision, DecisionList } from '../../../../src/views/model/api.ts'
import { keyOf } from '../../state/decisions.ts'
import type { Resource } from '../../state/resource.ts'
import { Ago } from '../time.tsx'
import { QuestionCard } from './question-card.tsx'
import { valueText } from './value-text.ts'

/** Every open question as a card that can be answered; who came too late is told who was faster. */
export function OpenQuestions({ decisions }: { readonly decisions: Resource<DecisionList> }) {
  const { open = [], past = [] } = decisions.value ?? {}
  // What somebody has begun to answer, as it was.
  const begun = useRef(new Map<string, Decision>())
  const [late, setLate] = useState<readonly Decision[]>([])
  const isOpen = new Set(open.map(keyOf))
  const lost = new Map(
    [
      ...late,
      ...[...begun.current.values()].filter((decision) => !isOpen.has(keyOf(decision))),
    ].map((decision) => [keyOf(decision), decision]),
  )
  const forget = (decision: Decision): void => {
    begun.current.delete(keyOf(decision))
    setLate((before) => before.filter((one) => keyOf(one) !== keyOf(decision)))
    decisions.reload()
  }
  return (
    <div class="questions">
      {[...lost.values()].map((decision) => (
        <Faster
          key={keyOf(decision)}
          decision={past.find((one) => keyOf(one) === keyOf(decision)) ?? decision}
          onClose={() => forget(decision)}
        />
      ))}
      {open
        .filter((decision) => !lost.has(keyOf(decision)))
        .map((decision) => (
          <QuestionCard
            key={keyOf(decision)}
            decision={decision}
            onTouch={() => begun.current.set(keyOf(decision), decision)}
            onAnswered={() => {
              begun.current.delete(keyOf(decision))
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
