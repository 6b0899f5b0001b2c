import { useState } from 'preact/hooks'
import type { Interaction } from '../../../../src/protocol/events.ts'
import { late } from '../../screens/late.tsx'

// Most questions have buttons: the form comes with the first that needs one.
const SchemaForm = late(async () => (await import('../schema-form.tsx')).SchemaForm)

type Props = {
  readonly question: Partial<Interaction>
  readonly disabled: boolean
  onAnswer(value: unknown): void
  onTouch(): void
}

/**
 * What one answers a question with: buttons where the answers are known, a form where a schema says
 * what is wanted, else a text.
 */
export function AnswerForm(props: Props) {
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
}: Props & { readonly choices: readonly Choice[] }) {
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
}: Props & { readonly schema: NonNullable<Interaction['schema']> }) {
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

function TextAnswer({ question, disabled, onAnswer, onTouch }: Props) {
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
