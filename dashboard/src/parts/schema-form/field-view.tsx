import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { getField, getTitle } from '../../../../src/views/model/form.ts'
import type { FormField } from '../../../../src/views/model/form.ts'
import { getHints } from '../../../../src/views/model/form-values.ts'
import { Checkbox, ChoiceControl, ManyControl, NumberControl, TextControl } from './controls.tsx'
import type { Wiring } from './controls.tsx'
import { JsonControl } from './json-control.tsx'
import { GroupControl, ListControl, VariantsControl } from './nested.tsx'
import type { Place } from './place.ts'

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
    ...(described && { 'aria-describedby': described }),
    ...(own.length > 0 && { 'aria-invalid': true }),
    ...(place.required && { 'aria-required': true }),
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

// Where yes and no both have to be said, a box that nobody has touched would say no.
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
