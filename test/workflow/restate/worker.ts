import type { PerformStep } from '../../../src/workflow/engines/restate/worker/live-steps.ts'
import { adminAt, registerWorker } from '../../../src/workflow/engines/restate/admin.ts'
import { loadSdk } from '../../../src/workflow/engines/restate/load-sdk.ts'
import { openEndpoint } from '../../../src/workflow/engines/restate/worker/endpoint.ts'
import type { Endpoint } from '../../../src/workflow/engines/restate/worker/endpoint.ts'
import { LiveSteps } from '../../../src/workflow/engines/restate/worker/live-steps.ts'
import { makeServices } from '../../../src/workflow/engines/restate/worker/services.ts'
import { PACKAGES } from './server.ts'

/** A worker in this process, which performs tools by a function. */
export async function openWorker(
  admin: string,
  perform: PerformStep,
  port = 0,
): Promise<Endpoint & { readonly url: string; readonly warnings: string[] }> {
  const sdk = await loadSdk(PACKAGES)
  const warnings: string[] = []
  const endpoint = await openEndpoint(sdk, {
    host: '127.0.0.1',
    port,
    services: makeServices(sdk, { steps: new LiveSteps(perform) }),
    onWarning: (text) => warnings.push(text),
  })
  const url = `http://127.0.0.1:${endpoint.port}`
  await registerWorker(adminAt(admin), url, { signal: AbortSignal.timeout(30_000) })
  return { ...endpoint, url, warnings }
}
