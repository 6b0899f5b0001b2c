import { useRef, useState } from 'preact/hooks'
import { isFinished } from '../../../../src/protocol/run-state.ts'
import type { JsonObject } from '../../../../src/util/values.ts'
import { stripAnsi } from '../../../../src/views/model/ansi.ts'
import type { EventPage, RunDetail, StartedRun } from '../../../../src/views/model/api.ts'
import { ActionButton, ConfirmedAction, CopyButton } from '../../parts/buttons.tsx'
import { lazy } from '../../parts/lazy.tsx'
import { RunLink, runPath, Subject } from '../../parts/links.tsx'
import { Bar, Heartbeat } from '../../parts/run-cells.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Fact } from '../../parts/table.tsx'
import { Ago, Since, Span, Took, Until } from '../../parts/time.tsx'
import { isReadOnly } from '../../state/about.ts'
import { get, post } from '../../state/api.ts'
import { useKeys } from '../../state/keys.ts'
import { goTo } from '../../state/route.ts'
import type { LiveRun } from './live.ts'

/** What a run is and how it stands, at a glance, and what can be done with it. */
export function RunHeader({ run }: { readonly run: LiveRun }) {
  const {
    detail: { row, request },
    model,
  } = run
  const over = isFinished(model.state)
  const attempt = model.attempts.at(-1)
  const percent = over ? undefined : model.progress?.percent
  const last = model.last && stripAnsi(model.last.text)
  return (
    <header class="card run-header">
      <div class="title-row">
        <h1 class="line">
          <StateBadge state={model.state} />
          <Subject row={row} />
          {request.version !== undefined && <small class="dim">@{request.version}</small>}
        </h1>
        <span class="line id">
          <code>{row.run_id}</code>
          <CopyButton text={row.run_id} label="Copy the id" short />
        </span>
        {!over && percent !== undefined && (
          <span class="progress">
            <Bar percent={percent} />
          </span>
        )}
      </div>
      <dl class="run-facts">
        <Fact name="Started by">
          {row.parent ? (
            <>
              step <code>{row.parent.step}</code> of <RunLink id={row.parent.run_id} />
            </>
          ) : (
            (row.caller ?? '–')
          )}
        </Fact>
        <Fact name="Started">
          <Ago at={attempt?.began ?? row.created} />
        </Fact>
        <Fact name={over ? 'Took' : 'Running for'}>
          <RunningTime run={run} />
        </Fact>
        <Fact name="Ends at the latest in">
          {!over && model.deadline !== undefined && <Until at={model.deadline} over="a moment" />}
        </Fact>
        <Fact name="Heard of">
          {!over && model.heard !== undefined && (
            <Heartbeat heard={model.heard} grace={model.grace_s} />
          )}
        </Fact>
        <Fact name="Attempt">{model.attempts.length > 1 && model.attempt}</Fact>
        <Fact name="Exit code">{over && model.rc}</Fact>
        <Fact name="Last message">
          {!over && last !== undefined && (
            <span class="words" title={last}>
              {last}
            </span>
          )}
        </Fact>
      </dl>
      <Actions run={run} />
    </header>
  )
}

function RunningTime({ run: { detail, model } }: { readonly run: LiveRun }) {
  const attempt = model.attempts.at(-1)
  if (!isFinished(model.state)) return attempt ? <Since at={attempt.began} /> : <>not begun</>
  if (attempt?.ended === undefined) return <Took seconds={detail.row.duration_s} />
  return <Span span={attempt} />
}

const RetryForm = lazy(() => import('./retry-form.tsx'))

/** What can be done with a run at this moment. */
export function Actions({ run: { detail, model, reload } }: { readonly run: LiveRun }) {
  const {
    row: { run_id: id },
    can,
    command,
    go_on: goOn,
  } = detail
  const [changing, setChanging] = useState(false)
  const at = (action: string): string => `${runPath(id)}/${action}`
  const open = async (started: Promise<StartedRun>): Promise<void> =>
    goTo(runPath((await started).run_id))
  const act = async (done: Promise<unknown>): Promise<void> => {
    await done
    reload()
  }
  const bar = useRef<HTMLDivElement>(null)
  const press = (label: string) => (): void =>
    [...(bar.current?.querySelectorAll('button') ?? [])]
      .find(({ textContent }) => textContent === label)
      ?.click()
  useKeys([
    { key: 'c', label: 'Cancel the run (asks first)', run: press('Cancel') },
    { key: 'r', label: 'Retry with changes', run: press('Retry with changes') },
  ])
  return (
    <div class="stack">
      <div class="run-actions line" ref={bar}>
        {can.cancel && !isFinished(model.state) && (
          <ActionButton
            label="Cancel"
            danger
            confirm="Cancel this run?"
            run={() => act(post(at('cancel'), { reason: 'cancelled in the dashboard' }))}
          />
        )}
        {can.resume && (
          <ActionButton
            label="Resume"
            primary
            title={goOn}
            run={() => open(post<StartedRun>(at('resume')))}
          />
        )}
        {can.retry && (
          <ConfirmedAction
            label="Retry"
            send={(confirm) => open(post<StartedRun>(at('retry'), { confirm }))}
          />
        )}
        {can.retry && (
          <button
            type="button"
            aria-expanded={changing}
            disabled={isReadOnly()}
            onClick={() => setChanging(!changing)}
          >
            Retry with changes
          </button>
        )}
        <span class="push line">
          {command !== '' && <CopyButton text={command} label="Copy as command" outlined />}
          <ActionButton
            label="Export"
            harmless
            title="One file with everything that is known of it"
            run={() => exportRun(detail)}
          />
        </span>
      </div>
      {changing && can.retry && <RetryForm detail={detail} onClose={() => setChanging(false)} />}
    </div>
  )
}

const PAGE = 1000

/** Gives the reader one file with the document of a run and all of its events. */
export async function exportRun(detail: RunDetail): Promise<void> {
  const { run_id: id } = detail.row
  const events: JsonObject[] = []
  for (let from: number | undefined = 1; from !== undefined;) {
    const page: EventPage = await get<EventPage>(`${runPath(id)}/events?from=${from}&limit=${PAGE}`)
    for (const event of page.events) events.push(event)
    from = page.next
  }
  save(
    `${id}.json`,
    new Blob([JSON.stringify({ ...detail, events }, null, 1)], { type: 'application/json' }),
  )
}

function save(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
