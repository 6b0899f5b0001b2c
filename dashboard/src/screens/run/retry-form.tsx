import { useState } from 'preact/hooks'
import type { JsonObject, JsonSchema } from '../../../../src/util/values.ts'
import { isObject } from '../../../../src/util/values.ts'
import type { RunDetail, StartedRun } from '../../../../src/views/model/api.ts'
import { parseNumber } from '../../../../src/views/model/form-values.ts'
import { ConfirmedAction, Quiet } from '../../parts/buttons.tsx'
import { runPath } from '../../parts/links.tsx'
import SchemaForm from '../../parts/schema-form/form.tsx'
import { ApiError, post } from '../../state/api.ts'
import { goTo } from '../../state/route.ts'

/** The input of a run as a form, to start the same again with another one. */
export default function RetryForm({
  detail: { row, request },
  onClose,
}: {
  readonly detail: RunDetail
  onClose(): void
}) {
  const [draft, setDraft] = useState<{ readonly value: unknown; readonly ok: boolean }>({
    value: withoutHidden(request.input ?? inputIn(request.args, request.input_schema)),
    ok: true,
  })
  const [problems, setProblems] = useState<
    readonly { readonly path: string; readonly message: string }[]
  >([])
  const start = async (confirm: boolean): Promise<void> => {
    setProblems([])
    try {
      const { run_id: id } = await post<StartedRun>(`${runPath(row.run_id)}/retry`, {
        input: draft.value as JsonObject,
        confirm,
      })
      goTo(runPath(id))
    } catch (error) {
      if (error instanceof ApiError && error.field !== undefined)
        setProblems([{ path: error.field, message: error.message }])
      throw error
    }
  }
  return (
    <form
      class="retry"
      aria-label="Retry with changes"
      onSubmit={(event) => event.preventDefault()}
    >
      {request.input === undefined && request.args.length > 0 && (
        <p class="dim">
          It was started with <code>{request.args.join(' ')}</code>.
        </p>
      )}
      <SchemaForm
        schema={request.input_schema ?? { type: 'object' }}
        value={draft.value}
        problems={problems}
        onChange={(value, ok) => setDraft({ value, ok })}
        label="Input"
      />
      <div class="line">
        <ConfirmedAction label="Start again" primary disabled={!draft.ok} send={start} />
        <Quiet onClick={onClose}>Close</Quiet>
        <span class="dim">It becomes a run of its own; this one stays as it is.</span>
      </div>
    </form>
  )
}

// Flags as the fields that they stand for; what is no flag has no name, and is left to the reader.
function inputIn(args: readonly string[], schema: JsonSchema | undefined): JsonObject {
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {}
  const input: { [name: string]: unknown } = {}
  for (let index = 0; index < args.length; index += 1) {
    const [, flag, joined] = /^--([a-z][\w-]*)(?:=(.*))?$/is.exec(args[index]!) ?? []
    if (flag === undefined) continue
    const next =
      joined ?? (args[index + 1]?.startsWith('--') === false ? args[(index += 1)] : undefined)
    const name = Object.hasOwn(properties, flag) ? flag : flag.replaceAll('-', '_')
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined
    const isText = isObject(field) && field['type'] === 'string'
    if (next === undefined) input[name] = true
    else input[name] = isText ? next : (parseNumber(next) ?? next)
  }
  return input
}

// What the record hides has to be typed again.
function withoutHidden(input: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== '***'))
}
