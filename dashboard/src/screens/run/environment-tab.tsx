import type { RunEvent } from '../../../../src/protocol/run-state.ts'
import type { EventPage } from '../../../../src/views/model/api.ts'
import { toEventText } from '../../../../src/views/model/event-text.ts'
import { formatDuration } from '../../../../src/views/model/format.ts'
import { CopyButton } from '../../parts/buttons.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { runPath } from '../../parts/links.tsx'
import { Fact } from '../../parts/table.tsx'
import { useDocument } from '../../state/resource.ts'
import type { LiveRun } from './live.ts'

const SAID = 'runner_start,runner_warning,runner_error,runner_end'

/** Where and with which rights a run was started, and what came of its rights. */
export function EnvironmentTab({
  run: {
    model,
    detail: { request, folder, command },
  },
}: {
  readonly run: LiveRun
}) {
  // Asked for again when another attempt begins or ends.
  const { value } = useDocument<EventPage>(
    `${runPath(model.run_id)}/events?type=${SAID}&limit=1000#${model.attempt}${model.state}`,
  )
  const events = (value?.events ?? []) as unknown as readonly RunEvent[]
  const start = events.findLast(({ type }) => type === 'runner_start')
  const troubles = events.filter(({ type }) => type === 'runner_warning' || type === 'runner_error')
  return (
    <div class="columns">
      <section aria-label="How it was started">
        <h2>How it was started</h2>
        <dl class="pairs">
          <Fact name="As a command">
            <code>{command || '–'}</code>
            {command !== '' && <CopyButton text={command} />}
          </Fact>
          <Fact name="Program">
            {request.command ? (
              <code>{request.command.join(' ')}</code>
            ) : (
              'none: it is called in the process of the runner'
            )}
          </Fact>
          <Fact name="Arguments">
            {request.args.length > 0 ? <code>{request.args.join(' ')}</code> : '–'}
          </Fact>
          <Fact name="Directory">
            <code>{request.cwd || '–'}</code>
          </Fact>
          <Fact name="Record">
            <code>{folder ?? 'none of its own'}</code>
          </Fact>
          <Fact name="Manifest">
            {request.manifest === undefined ? '–' : <code>{request.manifest}</code>}
          </Fact>
          <Fact name="Version">{request.version ?? '–'}</Fact>
          <Fact name="Secrets, by name">
            {request.secrets.length > 0 ? <code>{request.secrets.join(', ')}</code> : 'none'}
          </Fact>
          <Fact name="Answers given in advance">
            {request.answers.length > 0 ? <code>{request.answers.join(', ')}</code> : 'none'}
          </Fact>
          <Fact name="Idempotency key">
            {request.idempotency_key === undefined ? '–' : <code>{request.idempotency_key}</code>}
          </Fact>
          <Fact name="Trace">
            {request.trace_id === undefined ? '–' : <code>{request.trace_id}</code>}
          </Fact>
        </dl>
      </section>
      <section class="stack" aria-label="Rights and limits">
        <h2>Rights and limits</h2>
        <dl class="pairs">
          <Fact name="Level">
            {said(start, 'level')}
            {start?.['needed_level'] !== undefined && (
              <span class="warn"> it needs {said(start, 'needed_level')}</span>
            )}
          </Fact>
          <Fact name="Granted">{said(start, 'rights')}</Fact>
          <Fact name="Memory is held by">{said(start, 'memory_held_by')}</Fact>
          <Fact name="May take">
            {request.timeout_s === undefined ? 'any time' : formatDuration(request.timeout_s)}
          </Fact>
          <Fact name="May be silent for">
            {request.heartbeat_grace_s === undefined
              ? 'any time'
              : formatDuration(request.heartbeat_grace_s)}
          </Fact>
          <Fact name="Is tried again">
            {request.retries === undefined ? '–' : `${request.retries} times at most`}
          </Fact>
          <Fact name="Lower level allowed">{request.allow_level ?? 'no'}</Fact>
        </dl>
        <h3>Asked for</h3>
        {request.permissions === undefined ? (
          <p class="dim">Its manifest says nothing about permissions.</p>
        ) : (
          <JsonView value={request.permissions} open={3} />
        )}
        <h3>Refused, and other troubles</h3>
        {troubles.length === 0 ? (
          <p class="dim">None.</p>
        ) : (
          <ul class="troubles">
            {troubles.map((event) => (
              <li key={event.seq} class={event.type === 'runner_error' ? 'bad' : 'warn'}>
                {toEventText(event)}
              </li>
            ))}
          </ul>
        )}
      </section>
    </div>
  )
}

function said(event: RunEvent | undefined, field: string): string {
  const value = event?.[field]
  return typeof value === 'string' ? value : '–'
}
