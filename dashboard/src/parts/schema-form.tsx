import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { JsonSchema } from '../../../src/util/values.ts'
import { parsePath, pruneDraft } from '../../../src/views/model/form-values.ts'
import { FieldView } from './schema-form/field-view.tsx'
import { JsonControl } from './schema-form/json-control.tsx'

export type SchemaFormProps = {
  readonly schema: JsonSchema
  /** Undefined at first: then the form tells at once what it begins with. */
  readonly value: unknown
  /** `ok` is false while a text of it cannot be read as a value; then nothing should be sent. */
  onChange(value: unknown, ok: boolean): void
  /** What the server has against the value, by path. */
  readonly problems?: readonly { readonly path: string; readonly message: string }[]
  /** What a value that is no object is called. */
  readonly label?: string
}

/**
 * A form for a schema. What is not filled in is left out, and what cannot be drawn is a text of
 * JSON, as is the whole on request.
 */
export function SchemaForm({
  schema,
  value,
  onChange,
  problems = [],
  label = 'Value',
}: SchemaFormProps) {
  const [draft, setDraft] = useState(value)
  const [raw, setRaw] = useState(false)
  const told = useRef(value)
  const unreadable = useRef(new Set<string>())
  // An example or another run may put in a whole new value.
  const isNew = value !== told.current
  const shown = isNew ? value : draft
  const tell = (next: unknown, given: unknown) => {
    setDraft(next)
    told.current = given
    onChange(given, unreadable.current.size === 0)
  }
  const change = (next: unknown) => tell(next, pruneDraft(schema, schema, next))
  // Before the next key arrives: a later effect would overwrite what it typed.
  useLayoutEffect(() => {
    if (value === undefined) change(undefined)
    else if (isNew) setDraft(value)
    told.current = value ?? told.current
  }, [value, schema])
  const mark = (id: string, isUnreadable: boolean) => {
    if (unreadable.current.has(id) === isUnreadable) return
    if (isUnreadable) unreadable.current.add(id)
    else unreadable.current.delete(id)
    onChange(told.current, unreadable.current.size === 0)
  }
  const found = problems.map(({ path, message }) => ({ path: parsePath(path), message }))
  return (
    <div class="schema-form">
      {raw ? (
        <JsonControl
          name="Input as JSON"
          value={told.current}
          onChange={(next) => tell(next, next)}
          problems={found}
          mark={mark}
          whole
        />
      ) : (
        <FieldView
          place={{
            schema,
            root: schema,
            name: label,
            required: true,
            value: shown,
            onChange: change,
            problems: found,
            mark,
            depth: 0,
          }}
        />
      )}
      <button
        type="button"
        class="quiet"
        aria-pressed={raw}
        disabled={raw && unreadable.current.size > 0}
        onClick={() => setRaw(!raw)}
      >
        Edit as JSON
      </button>
    </div>
  )
}
