import { useEffect, useId, useState } from 'preact/hooks'
import type { JsonSchema } from '../../../../src/util/values.ts'
import type { FormProblem } from '../../../../src/views/model/form-values.ts'
import { parseNumber } from '../../../../src/views/model/form-values.ts'
import type { FieldOption } from '../../../../src/views/model/form.ts'
import { toDisplayText } from '../../../../src/views/model/form.ts'

/** Where a field stands, and how it tells its value. */
export type Place = {
  readonly schema: unknown
  /** The document that references point into. */
  readonly root: JsonSchema
  readonly name: string
  readonly required: boolean
  readonly value: unknown
  onChange(value: unknown): void
  readonly problems: readonly FormProblem[]
  /** Tells of a text that cannot be read as a value, or can again. */
  mark(id: string, unreadable: boolean): void
  readonly depth: number
  /** The name is said, not shown: what is around it shows it. */
  readonly hidesName?: boolean
}

/** What ties a control to its name, its help and its problems. */
export type Wiring = {
  readonly id: string
  readonly name: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
  readonly 'aria-required': true | undefined
}

type Simple = { readonly place: Place; readonly wiring: Wiring }
const MOST_RADIOS = 4

/** A field for text; an empty one is not filled in. */
export function TextControl({
  type,
  place,
  wiring: { name: _, ...wiring },
}: Simple & { readonly type: 'text' | 'long' | 'password' | 'date' }) {
  const value = toDisplayText(place.value)
  const onInput = ({
    currentTarget,
  }: {
    readonly currentTarget: HTMLInputElement | HTMLTextAreaElement
  }) => place.onChange(currentTarget.value === '' ? undefined : currentTarget.value)
  if (type === 'long' || value.includes('\n'))
    return <textarea {...wiring} rows={3} value={value} onInput={onInput} />
  const rest = { ...wiring, value, onInput, spellcheck: false }
  switch (type) {
    case 'password':
      return <input {...rest} type="password" autocomplete="new-password" />
    case 'date':
      return <input {...rest} type="date" />
    default:
      return <input {...rest} type="text" autocomplete="off" />
  }
}

/** A field for a number. */
export function NumberControl({
  schema: { minimum, maximum },
  whole,
  place,
  wiring: { name: _, ...wiring },
}: Simple & { readonly schema: JsonSchema; readonly whole: boolean }) {
  const [draft, setDraft] = useState('')
  useEffect(() => () => place.mark(wiring.id, false), [])
  const value = parseNumber(draft) === place.value ? draft : toDisplayText(place.value)
  return (
    <input
      {...wiring}
      type="number"
      step={whole ? 1 : 'any'}
      min={typeof minimum === 'number' ? minimum : undefined}
      max={typeof maximum === 'number' ? maximum : undefined}
      value={value}
      onInput={({ currentTarget }) => {
        setDraft(currentTarget.value)
        // The browser keeps a text that is no number to itself.
        place.mark(wiring.id, currentTarget.validity.badInput)
        place.onChange(parseNumber(currentTarget.value))
      }}
    />
  )
}

/** A box with its name beside it. */
export function Checkbox({
  label,
  checked,
  onChange,
  name: _,
  ...wiring
}: Partial<Wiring> & {
  readonly label: string
  readonly checked: boolean
  onChange(checked: boolean): void
}) {
  return (
    <label class="box">
      <input
        type="checkbox"
        {...wiring}
        checked={checked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />{' '}
      {label}
    </label>
  )
}

/** One of several values: buttons where one of a few has to be chosen, a list otherwise. */
export function ChoiceControl({
  options,
  byDefault,
  place,
  wiring: { name: _, ...wiring },
}: Simple & { readonly options: readonly FieldOption[]; readonly byDefault: unknown }) {
  const group = useId()
  const chosen = options.findIndex((option) => same(option.value, place.value))
  if (place.required && byDefault === undefined && options.length <= MOST_RADIOS) {
    return (
      <div class="options">
        {options.map((option, index) => (
          <label class="box">
            <input
              type="radio"
              name={group}
              checked={index === chosen}
              onChange={() => place.onChange(option.value)}
            />{' '}
            {option.label}
          </label>
        ))}
      </div>
    )
  }
  return (
    <select
      {...wiring}
      onChange={({ currentTarget }) =>
        place.onChange(options[currentTarget.selectedIndex - 1]?.value)
      }
    >
      <option selected={chosen < 0}>{unchosenText(byDefault, place.required)}</option>
      {options.map((option, index) => (
        <option selected={index === chosen}>{option.label}</option>
      ))}
    </select>
  )
}

function unchosenText(byDefault: unknown, required: boolean): string {
  if (byDefault !== undefined) return `${toDisplayText(byDefault)} (default)`
  return required ? 'Choose …' : 'Not set'
}

/** Any of several values, in their order. */
export function ManyControl({
  options,
  place,
}: {
  readonly options: readonly FieldOption[]
  readonly place: Place
}) {
  const chosen = Array.isArray(place.value) ? (place.value as unknown[]) : []
  const has = (option: FieldOption) => chosen.some((value) => same(value, option.value))
  return (
    <div class="options">
      {options.map((option) => (
        <Checkbox
          label={option.label}
          checked={has(option)}
          onChange={(checked) =>
            place.onChange(
              options
                .filter((other) => (other === option ? checked : has(other)))
                .map(({ value }) => value),
            )
          }
        />
      ))}
    </div>
  )
}

function same(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right)
}
