import { useState } from 'preact/hooks'
import type { JsonObject } from '../../../../../src/contract/json.ts'
import type { Started } from '../../../../../src/views/model/wire/others.ts'
import type { RunDetail } from '../../../../../src/views/model/wire/run-detail.ts'
import { runPath } from '../../../parts/run-cells.tsx'
import { SchemaForm } from '../../../parts/schema-form.tsx'
import { ApiError, post } from '../../../state/api.ts'
import { goTo } from '../../../state/route.ts'
import { ConfirmedAction } from './confirmed-action.tsx'

/** The input of a run as a form, to start the same again with another one. */
export function RetryForm({ detail: { row, request }, onClose }: { readonly detail: RunDetail; onClose(): void }) {
  const [draft, setDraft] = useState<{ readonly value: unknown; readonly ok: boolean }>({ value: withoutHidden(request.input ?? {}), ok: true })
  const [problems, setProblems] = useState<readonly { readonly path: string; readonly message: string }[]>([])
  const start = async (confirm: boolean): Promise<void> => {
    setProblems([])
    try {
      const { run_id: id } = await post<Started>(`/runs/${encodeURIComponent(row.run_id)}/retry`, { input: draft.value as JsonObject, confirm })
      goTo(runPath(id))
    } catch (error) {
      if (error instanceof ApiError && error.field !== undefined) setProblems([{ path: error.field, message: error.message }])
      throw error
    }
  }
  return (
    <form class="retry" aria-label="Retry with changes" onSubmit={(event) => event.preventDefault()}>
      <SchemaForm schema={request.input_schema ?? { type: 'object' }} value={draft.value} problems={problems} onChange={(value, ok) => setDraft({ value, ok })} label="Input" />
      <div class="line">
        <ConfirmedAction label="Start again" primary disabled={!draft.ok} send={start} />
        <button type="button" class="quiet" onClick={onClose}>Close</button>
        <span class="dim">It becomes a run of its own; this one stays as it is.</span>
      </div>
    </form>
  )
}

// What the record hides has to be typed again.
function withoutHidden(input: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== '***'))
}
