import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isObject } from '../../../../src/util/values.ts'
import type { JsonObject, JsonSchema } from '../../../../src/util/values.ts'
import { hideSecrets, parsePath } from '../../../../src/views/model/form-values.ts'
import type { StartedRun } from '../../../../src/views/model/api.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Code } from '../../parts/code.tsx'
import { runPath } from '../../parts/run-cells.tsx'
import { SchemaForm } from '../../parts/schema-form.tsx'
import { ApiError, post } from '../../state/api.ts'
import { goTo } from '../../state/route.ts'
import { usePreview } from './use-preview.ts'

type Props = {
  readonly id: string
  /** What the form is called. */
  readonly title?: string
  readonly schema: JsonSchema
  readonly dryRun?: boolean
  readonly destructive?: boolean
  /** An input to put into the form, each time that it is another object. */
  readonly given?: { readonly input: JsonObject } | undefined
}

/** A form that runs a tool, with the command line and the JSON that mean the same. */
export function TryIt({
  id,
  title = 'Try it',
  schema,
  dryRun = false,
  destructive = false,
  given,
}: Props) {
  const [value, setValue] = useState<unknown>()
  const [readable, setReadable] = useState(true)
  const [tried, setTried] = useState(false)
  const [planned, setPlanned] = useState(false)
  const [refused, setRefused] = useState<{ readonly path: string; readonly message: string }>()
  const card = useRef<HTMLElement>(null)
  const { preview, error } = usePreview(id, value)
  useLayoutEffect(() => {
    if (!given) return
    setValue(given.input)
    card.current?.scrollIntoView({ block: 'nearest' })
  }, [given])
  const field = ['dry_run', 'dryRun'].find(
    (name) => isObject(schema['properties']) && Object.hasOwn(schema['properties'], name),
  )
  const dry = field === undefined ? planned : isObject(value) && value[field] === true
  // What is only missing yet is no news to somebody who has just begun.
  const problems = [...(preview?.problems ?? []), ...(refused ? [refused] : [])].filter(
    ({ path }) => tried || valueAt(value, path) !== undefined,
  )
  const start = async (): Promise<void> => {
    setTried(true)
    setRefused(undefined)
    if (!readable) throw new Error('Something cannot be read yet')
    if (preview?.ok === false)
      throw new Error(
        `${preview.problems.length === 1 ? 'One thing has' : `${preview.problems.length} things have`} to be mended first`,
      )
    try {
      const { run_id } = await post<StartedRun>('/runs', {
        tool: id,
        input: value ?? {},
        ...(dry && { dry_run: true }),
        ...(destructive && !dry && { confirm: true }),
      })
      goTo(runPath(run_id))
    } catch (failure) {
      if (failure instanceof ApiError && failure.field !== undefined)
        setRefused({ path: failure.field, message: failure.message })
      throw failure
    }
  }
  const hide = (text: string): string => hideSecrets(text, schema, value)
  const command = preview ? `${preview.command}${planned ? ' --dry-run' : ''}` : ''
  const json = preview?.json ?? JSON.stringify(value ?? {}, null, 2)
  const isReady = readable && preview?.ok === true
  return (
    <section class="card try-it" aria-label={title} ref={card}>
      <h2>{title}</h2>
      <div class="columns">
        <div
          class="stack"
          onKeyDown={(event) =>
            event.key === 'Enter' &&
            (event.ctrlKey || event.metaKey) &&
            card.current?.querySelector<HTMLElement>('.start button')?.click()
          }
        >
          {hasFields(schema) ? null : <p class="dim">It takes no input.</p>}
          <SchemaForm
            schema={schema}
            value={value}
            problems={problems}
            onChange={(next, ok) => {
              setValue(next)
              setReadable(ok)
              setRefused(undefined)
            }}
          />
          {dryRun && field === undefined && (
            <label>
              <input
                type="checkbox"
                role="switch"
                checked={planned}
                onChange={({ currentTarget }) => setPlanned(currentTarget.checked)}
              />{' '}
              Dry run: say what would be done, and do nothing
            </label>
          )}
          <div class="line start">
            <ActionButton
              key={JSON.stringify(value)}
              primary={!destructive || dry}
              danger={destructive && !dry}
              label={dry ? 'Start dry run' : 'Start'}
              title="Ctrl+Enter"
              confirm={
                destructive && !dry && isReady
                  ? 'It may destroy something. Run it all the same?'
                  : undefined
              }
              run={start}
            />
            <span role="status" class={isReady ? 'ok' : 'dim'}>
              {!readable
                ? 'something cannot be read yet'
                : preview
                  ? preview.ok
                    ? '✓ ready'
                    : summarize(preview.problems)
                  : ''}
            </span>
          </div>
        </div>
        <div class="stack">
          <h3>The same as a command line</h3>
          <Code
            label="Command line"
            copy="Copy command"
            wrap
            text={preview ? hide(command) : error ? error.message : '…'}
            copied={command}
          />
          <h3>The same as JSON</h3>
          <Code label="JSON" copy="Copy JSON" language="json" text={hide(json)} copied={json} />
        </div>
      </div>
    </section>
  )
}

function summarize(
  problems: readonly { readonly path: string; readonly message: string }[],
): string {
  return `${problems.length} to fill in or mend: ${problems
    .slice(0, 5)
    .map(({ path, message }) => path || message)
    .join(', ')}`
}

function valueAt(value: unknown, path: string): unknown {
  return parsePath(path).reduce<unknown>(
    (here, part) =>
      typeof here === 'object' && here !== null && Object.hasOwn(here, part)
        ? (here as Record<string | number, unknown>)[part]
        : undefined,
    value,
  )
}

function hasFields(schema: JsonSchema): boolean {
  return !isObject(schema['properties']) || Object.keys(schema['properties']).length > 0
}
