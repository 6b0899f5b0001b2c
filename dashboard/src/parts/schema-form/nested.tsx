import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isObject } from '../../../../src/util/values.ts'
import {
  findVariant,
  getOwnValue,
  problemsInside,
  problemsOutside,
  pruneDraft,
} from '../../../../src/views/model/form-values.ts'
import type { FieldMember, FormField } from '../../../../src/views/model/form.ts'
import { getField } from '../../../../src/views/model/form.ts'
import { Quiet } from '../buttons.tsx'
import type { Place } from './controls.tsx'
import { FieldView } from './form.tsx'

/** The members of an object. */
export function GroupControl({
  members,
  place,
  name,
  folded,
}: {
  readonly members: readonly FieldMember[]
  readonly place: Place
  readonly name: string
  readonly folded: boolean
}) {
  const [open, setOpen] = useState(!folded)
  if (!open && place.value === undefined)
    return <Quiet onClick={() => setOpen(true)}>Fill in {name}</Quiet>
  const value = isObject(place.value) ? place.value : {}
  const keys = members.map(({ key }) => key)
  const others = Object.keys(value).filter((key) => !keys.includes(key))
  return (
    <>
      {problemsOutside(place.problems, keys)
        .filter(({ path }) => path.length > 0)
        .map(({ path, message }) => (
          <p class="wrong" role="alert">
            ✗ {path.join('.')}: {message}
          </p>
        ))}
      {members
        .filter((member) => !isFixed(member, place))
        .map(({ key, schema, required }) => (
          <FieldView
            key={key}
            place={{
              ...inner(place),
              schema,
              name: key,
              required,
              value: getOwnValue(value, key),
              problems: problemsInside(place.problems, key),
              onChange: (next) => place.onChange({ ...value, [key]: next }),
            }}
          />
        ))}
      {others.length > 0 && (
        <p class="hint">Also given: {others.join(', ')} (to be seen as JSON).</p>
      )}
    </>
  )
}

/** The entries of a list, with buttons for more and fewer. */
export function ListControl({
  items,
  place,
  name,
}: {
  readonly items: unknown
  readonly place: Place
  readonly name: string
}) {
  const rows = useRef<HTMLDivElement>(null)
  const added = useRef(false)
  const values = Array.isArray(place.value) ? (place.value as unknown[]) : []
  // Before the next key arrives: what is typed after a click belongs into the new entry.
  useLayoutEffect(() => {
    if (added.current)
      rows.current?.lastElementChild
        ?.querySelector<HTMLElement>('input, select, textarea, button')
        ?.focus()
    added.current = false
  }, [values.length])
  // The server counts only what is filled in.
  const positions = values.map(
    (_, index) => values.slice(0, index).filter((value) => value !== undefined).length,
  )
  return (
    <>
      <div class="entries" ref={rows}>
        {values.map((value, index) => (
          <div class="entry" key={index}>
            <FieldView
              place={{
                ...inner(place),
                schema: items,
                name: `${name} ${index + 1}`,
                hidesName: true,
                required: true,
                value,
                problems:
                  value === undefined ? [] : problemsInside(place.problems, positions[index]!),
                onChange: (next) => place.onChange(values.with(index, next)),
              }}
            />
            <Quiet
              aria-label={`Remove ${name} ${index + 1}`}
              onClick={({ currentTarget }) => {
                const again = currentTarget.closest('fieldset')?.querySelector<HTMLElement>('.add')
                place.onChange(values.toSpliced(index, 1))
                again?.focus()
              }}
            >
              ✕
            </Quiet>
          </div>
        ))}
      </div>
      <Quiet
        class="add"
        aria-label={`Add to ${name}`}
        onClick={() => {
          added.current = true
          place.onChange([...values, pruneDraft(items, place.root, undefined)])
        }}
      >
        + Add
      </Quiet>
    </>
  )
}

/** One of several forms of a value. */
export function VariantsControl({
  variants,
  place,
  name,
}: {
  readonly variants: (FormField & { readonly kind: 'variants' })['variants']
  readonly place: Place
  readonly name: string
}) {
  const [chosen, setChosen] = useState<number>()
  const index = chosen ?? findVariant(variants, place.root, place.value)
  return (
    <>
      <select
        aria-label={`Kind of ${name}`}
        onChange={({ currentTarget }) => {
          setChosen(currentTarget.selectedIndex)
          place.onChange(
            place.required ||
              getField(variants[currentTarget.selectedIndex]!.schema, place.root).kind === 'group'
              ? pruneDraft(variants[currentTarget.selectedIndex]!.schema, place.root, undefined)
              : undefined,
          )
        }}
      >
        {variants.map(({ label }, position) => (
          <option selected={position === index}>{label}</option>
        ))}
      </select>
      <FieldView
        key={index}
        place={{
          ...inner(place),
          depth: place.depth,
          name,
          hidesName: true,
          schema: variants[index]!.schema,
          value: place.value,
          problems: place.problems.filter(({ path }) => path.length > 0),
          onChange: place.onChange,
        }}
      />
    </>
  )
}

function inner({
  root,
  mark,
  depth,
  required,
}: Place): Pick<Place, 'root' | 'mark' | 'depth' | 'required'> {
  return { root, mark, required, depth: depth + 1 }
}

// What can be only one thing needs no field.
function isFixed({ schema, required }: FieldMember, { root }: Place): boolean {
  const field = getField(schema, root)
  return required && field.kind === 'choice' && field.options.length === 1
}
