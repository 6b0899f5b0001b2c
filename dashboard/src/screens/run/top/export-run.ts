import type { JsonObject } from '../../../../../src/util/values.ts'
import type { EventPage, RunDetail } from '../../../../../src/views/model/api.ts'
import { get } from '../../../state/api.ts'

const PAGE = 1000

/** Gives the reader one file with the document of a run and all of its events. */
export async function exportRun(detail: RunDetail): Promise<void> {
  const { run_id: id } = detail.row
  const events: JsonObject[] = []
  for (let from: number | undefined = 1; from !== undefined;) {
    const page: EventPage = await get<EventPage>(
      `/runs/${encodeURIComponent(id)}/events?from=${from}&limit=${PAGE}`,
    )
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
