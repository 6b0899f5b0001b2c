import { useEffect, useId, useState } from 'preact/hooks'
import type { FormProblem } from '../../../../src/views/model/form-values.ts'
import { parseJsonText } from '../../../../src/views/model/form-values.ts'
import { Problems, RequiredMark } from './field-view.tsx'

type JsonControlProps = {
  readonly name: string
  readonly value: unknown
  onChange(value: unknown): void
  readonly problems: readonly FormProblem[]
  mark(id: string, unreadable: boolean): void
  readonly hints?: readonly string[]
  readonly required?: boolean
  /** It is the whole form. */
  readonly whole?: boolean
}

/** A text of JSON, for what has no form of its own. */
export function JsonControl({
  name,
  value,
  onChange,
  problems,
  mark,
  hints = [],
  required = false,
  whole = false,
}: JsonControlProps) {
  const id = useId()
  const [draft, setDraft] = useState(() => write(value))
  const read = parseJsonText(draft)
  // Somebody else has changed the value.
  const text =
    read.problem !== undefined || JSON.stringify(read.value) === JSON.stringify(value)
      ? draft
      : write(value)
  useEffect(() => () => mark(id, false), [])
  const messages =
    read.problem === undefined
      ? problems.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '))
      : [read.problem]
  return (
    <div class="field">
      <span class="name">
        <label for={id}>{name}</label>
        {required && <RequiredMark />}
      </span>
      <p class="hint" id={`${id}-hint`}>
        {[...hints, ...(whole ? [] : ['As JSON.'])].join(' ')}
      </p>
      <textarea
        id={id}
        class="json-text"
        rows={whole ? 10 : 3}
        spellcheck={false}
        value={text}
        aria-describedby={`${id}-hint ${id}-problem`}
        aria-required={required}
        aria-invalid={messages.length > 0}
        onInput={({ currentTarget }) => {
          const next = parseJsonText(currentTarget.value)
          setDraft(currentTarget.value)
          mark(id, next.problem !== undefined)
          if (next.problem === undefined) onChange(next.value)
        }}
      />
      <Problems id={`${id}-problem`} messages={messages} />
    </div>
  )
}

function write(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}
