import { isFinished } from '../../../../../src/protocol/run-state.ts'
import { stripAnsi } from '../../../../../src/views/model/ansi.ts'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { Bar, Heartbeat, RunLink, Subject } from '../../../parts/run-cells.tsx'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { Ago, Since, Took, Until } from '../../../parts/time.tsx'
import type { LiveRun } from '../live/use-run.ts'
import { Actions } from './actions.tsx'

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
          {over ? (
            <Took
              seconds={
                attempt?.ended === undefined
                  ? row.duration_s
                  : (attempt.ended - attempt.began) / 1000
              }
            />
          ) : attempt ? (
            <Since at={attempt.began} />
          ) : (
            'not begun'
          )}
        </Fact>
        {!over && model.deadline !== undefined && (
          <Fact name="Ends at the latest in">
            <Until at={model.deadline} over="a moment" />
          </Fact>
        )}
        {!over && model.heard !== undefined && (
          <Fact name="Heard of">
            <Heartbeat heard={model.heard} grace={model.grace_s} />
          </Fact>
        )}
        {model.attempts.length > 1 && <Fact name="Attempt">{model.attempt}</Fact>}
        {model.rc !== undefined && over && <Fact name="Exit code">{model.rc}</Fact>}
        {!over && last !== undefined && (
          <Fact name="Last message">
            <span class="words" title={last}>
              {last}
            </span>
          </Fact>
        )}
      </dl>
      <Actions run={run} />
    </header>
  )
}

function Fact({
  name,
  children,
}: {
  readonly name: string
  readonly children: preact.ComponentChildren
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
