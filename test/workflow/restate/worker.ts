import type { PerformStep, WorkerEndpoint } from '../../../src/workflow/restate/worker.ts'
import { createAdminServer, registerWorker } from '../../../src/workflow/restate/client.ts'
import { loadRestateSdk } from '../../../src/workflow/restate/sdk.ts'
import { LiveSteps, openWorkerEndpoint } from '../../../src/workflow/restate/worker.ts'
import { createWorkerServices } from '../../../src/workflow/restate/worker-services.ts'
import { PACKAGES } from './server.ts'
import { HANG_MS } from '../../support/limits.ts'

/** A worker in this process, which performs tools by a function. */
export async function openWorker(
  admin: string,
  perform: PerformStep,
  port = 0,
): Promise<WorkerEndpoint & { readonly url: string; readonly warnings: string[] }> {
  const sdk = await loadRestateSdk(PACKAGES)
  const warnings: string[] = []
  const endpoint = await openWorkerEndpoint(sdk, {
    host: '127.0.0.1',
    port,
    services: createWorkerServices(sdk, new LiveSteps(perform)),
    onWarning: (text) => warnings.push(text),
  })
  const url = `http://127.0.0.1:${endpoint.port}`
  await registerWorker(createAdminServer(admin), url, { signal: AbortSignal.timeout(HANG_MS) })
  return { ...endpoint, url, warnings }
}
