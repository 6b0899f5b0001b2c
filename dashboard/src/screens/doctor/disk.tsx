import { useState } from 'preact/hooks'
import type { DoctorReport } from '../../../../src/views/model/api.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { formatBytes } from '../../../../src/views/model/format-bytes.ts'
import { announce } from '../../state/announce.ts'
import { post } from '../../state/api.ts'

/** What the runs take on the disk, and a button that removes the old ones. */
export function Disk({
  disk: { folder, runs, bytes, old },
  onCleaned,
}: Pick<DoctorReport, 'disk'> & { onCleaned(): void }) {
  const [days, setDays] = useState(String(old.days))
  const [done, setDone] = useState('')
  const wanted = Number(days)
  const isNumber = /^[1-9]\d*$/.test(days.trim())
  const clean = async (): Promise<void> => {
    const removed = await post<{ readonly removed: number; readonly bytes: number }>(
      '/doctor/clean',
      { days: wanted },
    )
    const text = `${count(removed.removed)} removed, ${formatBytes(removed.bytes)} freed`
    setDone(text)
    announce(text)
    onCleaned()
  }
  return (
    <section class="card stack" aria-label="Disk">
      <h2>Disk</h2>
      <p>
        {count(runs)} take <strong>{formatBytes(bytes)}</strong> in <code>{folder}</code>
      </p>
      <p class="dim">
        {old.runs === 0
          ? `None is older than ${old.days} days.`
          : `${count(old.runs)} older than ${old.days} days: ${formatBytes(old.bytes)}.`}{' '}
        Live runs always stay.
      </p>
      <div class="line">
        <label>
          Remove runs that ended more than{' '}
          <input
            class="days"
            aria-label="Days"
            inputmode="numeric"
            value={days}
            aria-invalid={!isNumber}
            onInput={({ currentTarget }) => setDays(currentTarget.value)}
          />{' '}
          days ago
        </label>
        <ActionButton
          danger
          label="Clean up"
          disabled={!isNumber}
          confirm={`Remove all runs that ended more than ${wanted} days ago, with their artifacts?`}
          run={clean}
        />
      </div>
      <p role="status" class="ok">
        {done}
      </p>
    </section>
  )
}

function count(runs: number): string {
  return runs === 1 ? '1 run' : `${runs} runs`
}
