import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { JsonSchema } from '../../../../src/util/values.ts'
import type { FormProblem } from '../../../../src/views/model/form-values.ts'
import {
  getHints,
  parseJsonText,
  parsePath,
  pruneDraft,
} from '../../../../src/views/model/form-values.ts'
import type { FormField } from '../../../../src/views/model/form.ts'
import { getField, getTitle } from '../../../../src/views/model/form.ts'
import { Quiet } from '../buttons.tsx'
import type { Place, Wiring } from './controls.tsx'
import { Checkbox, ChoiceControl, ManyControl, NumberControl, TextControl } from './controls.tsx'
import { GroupControl, ListControl, VariantsControl } from './nested.tsx'

export type SchemaFormProps = {
  readonly schema: JsonSchema
  /** Undefined at first: the form then reports its initial value. */
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
export default function SchemaForm({
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
      <Quiet
        aria-pressed={raw}
        disabled={raw && unreadable.current.size > 0}
        onClick={() => setRaw(!raw)}
      >
        Edit as JSON
      </Quiet>
    </div>
  )
}

// Objects that may be left out are opened on request from here on: a schema may contain itself.
const FOLDED_FROM = 2
const DEEPEST = 8

/** A field with its name, its help, its control and its problems. */
export function FieldView({ place }: { readonly place: Place }) {
  const id = useId()
  const found = getField(place.schema, place.root)
  const field: FormField =
    place.depth > DEEPEST ? { ...found, kind: 'json' } : asChoice(found, place)
  const name = getTitle(field.schema, place.name)
  if (field.kind === 'json')
    return (
      <JsonControl
        name={name}
        value={place.value}
        onChange={place.onChange}
        problems={place.problems}
        mark={place.mark}
        hints={getHints(field)}
        required={place.required}
      />
    )
  const isWhole = place.depth === 0 && field.kind === 'group'
  const own = place.problems.filter(({ path }) => path.length === 0)
  const hints = isWhole ? [] : getHints(field)
  const described = [hints.length > 0 && `${id}-hint`, own.length > 0 && `${id}-problem`]
    .filter(Boolean)
    .join(' ')
  const wiring: Wiring = {
    id,
    name,
    'aria-describedby': described || undefined,
    'aria-invalid': own.length > 0 || undefined,
    'aria-required': place.required || undefined,
  }
  const isNull = field.nullable && place.value === null
  const control = isNull ? null : <Control field={field} place={place} wiring={wiring} />
  const around = (
    <>
      {hints.length > 0 && (
        <p class="hint" id={`${id}-hint`}>
          {hints.join(' ')}
        </p>
      )}
      {control}
      {field.nullable && (
        <Checkbox
          label={`Set ${name} to null`}
          checked={isNull}
          onChange={(checked) => place.onChange(checked ? null : undefined)}
        />
      )}
      <Problems id={`${id}-problem`} messages={own.map(({ message }) => message)} />
    </>
  )
  if (isWhole || (field.kind === 'group' && place.hidesName))
    return (
      <div class="members">
        {control}
        <Problems id={`${id}-problem`} messages={own.map(({ message }) => message)} />
      </div>
    )
  if (field.kind === 'boolean' && !isNull) return <div class="field check">{around}</div>
  if (isSet(field, place))
    return (
      <Fieldset wiring={wiring} required={place.required} hidesName={place.hidesName}>
        {around}
      </Fieldset>
    )
  return (
    <div class="field">
      <span class="name">
        <label for={id} class={place.hidesName ? 'hidden' : ''}>
          {name}
        </label>
        {place.required && !place.hidesName && <RequiredMark />}
      </span>
      {around}
    </div>
  )
}

/** What is wrong with a field, beside it. */
export function Problems({
  id,
  messages,
}: {
  readonly id: string
  readonly messages: readonly string[]
}) {
  return (
    <div id={id} class="wrong" role="alert">
      {messages.map((message) => (
        <p>
          <span aria-hidden="true">✗ </span>
          {message}
        </p>
      ))}
    </div>
  )
}

export function RequiredMark() {
  return (
    <span class="required" aria-hidden="true">
      required
    </span>
  )
}

function Fieldset({
  wiring,
  required,
  hidesName,
  children,
}: {
  readonly wiring: Wiring
  readonly required: boolean
  readonly hidesName: boolean | undefined
  readonly children: ComponentChildren
}) {
  return (
    <fieldset class="field" aria-describedby={wiring['aria-describedby']}>
      <legend class={hidesName ? 'hidden' : 'name'}>
        {wiring.name}
        {required && <RequiredMark />}
      </legend>
      {children}
    </fieldset>
  )
}

function Control({
  field,
  place,
  wiring,
}: {
  readonly field: FormField
  readonly place: Place
  readonly wiring: Wiring
}) {
  switch (field.kind) {
    case 'text':
      return <TextControl type={field.type} place={place} wiring={wiring} />
    case 'number':
      return (
        <NumberControl schema={field.schema} whole={field.whole} place={place} wiring={wiring} />
      )
    case 'boolean':
      return (
        <Checkbox
          {...wiring}
          label={wiring.name}
          checked={(place.value ?? field.schema['default']) === true}
          onChange={(checked) =>
            place.onChange(
              checked === (field.schema['default'] === true) && !place.required
                ? undefined
                : checked,
            )
          }
        />
      )
    case 'choice':
      return (
        <ChoiceControl
          options={field.options}
          byDefault={field.schema['default']}
          place={place}
          wiring={wiring}
        />
      )
    case 'many':
      return <ManyControl options={field.options} place={place} />
    case 'list':
      return <ListControl items={field.items} place={place} name={wiring.name} />
    case 'group':
      return (
        <GroupControl
          members={field.members}
          place={place}
          name={wiring.name}
          folded={!place.required && place.depth >= FOLDED_FROM}
        />
      )
    case 'variants':
      return <VariantsControl variants={field.variants} place={place} name={wiring.name} />
    case 'json':
      return null
  }
}

// An untouched checkbox would mean no where an explicit choice is required.
function asChoice(field: FormField, { required }: Place): FormField {
  if (field.kind !== 'boolean' || !required || field.schema['default'] !== undefined) return field
  return {
    ...field,
    kind: 'choice',
    options: [
      { value: true, label: 'Yes' },
      { value: false, label: 'No' },
    ],
  }
}

function isSet(field: FormField, place: Place): boolean {
  return (
    field.kind === 'group' ||
    field.kind === 'list' ||
    field.kind === 'many' ||
    field.kind === 'variants' ||
    (field.kind === 'choice' && isRadio(field, place))
  )
}

function isRadio(field: FormField & { readonly kind: 'choice' | 'many' }, place: Place): boolean {
  return place.required && field.schema['default'] === undefined && field.options.length <= 4
}

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

/** A text field for JSON, for values without a control. */
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
  // The value was changed from outside.
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
