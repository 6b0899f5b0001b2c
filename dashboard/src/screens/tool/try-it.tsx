import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { JsonObject, JsonSchema } from '../../../../src/util/values.ts'
import { isObject } from '../../../../src/util/values.ts'
import type { InputPreview, StartedRun } from '../../../../src/views/model/api.ts'
import { hideSecrets, parsePath } from '../../../../src/views/model/form-values.ts'
import { ActionButton } from '../../parts/buttons.tsx'
import { Code } from '../../parts/code.tsx'
import { runPath, toolPath } from '../../parts/links.tsx'
import SchemaForm from '../../parts/schema-form/form.tsx'
import { ApiError, post } from '../../state/api.ts'
import { goTo } from '../../state/route.ts'

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
  // Missing fields are not reported before the first attempt to start.
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
        // Left out of the JSON where they are undefined.
        dry_run: dry || undefined,
        confirm: (destructive && !dry) || undefined,
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
              {readable ? summarize(preview) : 'something cannot be read yet'}
            </span>
          </div>
        </div>
        <div class="stack">
          <h3>The same as a command line</h3>
          <Code
            label="Command line"
            copy="Copy command"
            wrap
            text={preview ? hide(command) : (error?.message ?? '…')}
            copied={command}
          />
          <h3>The same as JSON</h3>
          <Code label="JSON" copy="Copy JSON" language="json" text={hide(json)} copied={json} />
        </div>
      </div>
    </section>
  )
}

function summarize(preview: InputPreview | undefined): string {
  if (!preview) return ''
  const { ok, problems } = preview
  if (ok) return '✓ ready'
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

const PAUSE_MS = 150

/**
 * What the server makes of an input, asked for when nobody has typed for a moment; the last answer
 * stays until the next one.
 */
export function usePreview(
  id: string,
  input: unknown,
): { readonly preview?: InputPreview; readonly error?: ApiError } {
  const [held, setHeld] = useState<{ readonly preview?: InputPreview; readonly error?: ApiError }>(
    {},
  )
  const text = JSON.stringify(input)
  useEffect(() => {
    if (text === undefined) return undefined
    let isOld = false
    const timer = setTimeout(() => {
      void post<InputPreview>(`${toolPath(id)}/preview`, { input }).then(
        (preview) => {
          if (!isOld) setHeld({ preview })
        },
        (error: unknown) => {
          if (!isOld)
            setHeld({
              error: error instanceof ApiError ? error : new ApiError(0, 'INTERNAL', String(error)),
            })
        },
      )
    }, PAUSE_MS)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [id, text])
  return held
}
