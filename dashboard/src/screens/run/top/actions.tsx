import { useRef, useState } from 'preact/hooks'
import { isFinished } from '../../../../../src/protocol/run-state.ts'
import type { StartedRun } from '../../../../../src/views/model/api.ts'
import { ActionButton } from '../../../parts/action-button.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { runPath } from '../../../parts/run-cells.tsx'
import { isReadOnly } from '../../../state/about.ts'
import { post } from '../../../state/api.ts'
import { useKeys } from '../../../state/keys.ts'
import { goTo } from '../../../state/route.ts'
import { late } from '../../late.tsx'
import type { LiveRun } from '../live/use-run.ts'
import { ConfirmedAction } from './confirmed-action.tsx'
import { exportRun } from './export-run.ts'

const RetryForm = late(async () => (await import('./retry-form.tsx')).RetryForm)

/** What can be done with a run at this moment. */
export function Actions({ run: { detail, model, reload } }: { readonly run: LiveRun }) {
  const {
    row: { run_id: id },
    can,
    command,
    go_on: goOn,
  } = detail
  const [changing, setChanging] = useState(false)
  const at = (action: string): string => `/runs/${encodeURIComponent(id)}/${action}`
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
