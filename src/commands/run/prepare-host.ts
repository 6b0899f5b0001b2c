import { ToolError } from '../../contract/tool-error.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'

/** Milliseconds that a run has to end after a signal: the grace of its tool, and a little more. */
const FAREWELL = 15_000
/** The same for a workflow that is cancelled, and takes back what it did; a second signal ends it at once, and it can be resumed. */
const FAREWELL_OF_WORKFLOW = 3_600_000

/** Makes this process one that performs a run: stray output of tools stays off stdout, and a signal leaves the run time to end. A workflow is cancelled by Ctrl-C alone: whoever ends its process, or its terminal, leaves it for a resume. */
export function prepareHost(
  host: Host,
  {
    onCrash = () => undefined,
    command,
    run_id,
  }: { readonly onCrash?: (error: Error) => void } & Partial<
    Pick<RunRequest, 'command' | 'run_id'>
  > = {},
): void {
  if (command !== 'workflow')
    return host.prepareForTools(redirectStrayOutput, { onCrash, farewell: FAREWELL })
  host.prepareForTools(redirectStrayOutput, {
    onCrash,
    farewell: FAREWELL_OF_WORKFLOW,
    leave: (signal, status) =>
      signal === 'SIGINT'
        ? undefined
        : { error: leftBy(signal, status, run_id ?? ''), farewell: FAREWELL },
  })
}

function leftBy(signal: string, status: number, id: string): ToolError {
  return new ToolError(
    'INTERRUPTED',
    `${signal} ended the process that performed it; it is as it was, and can be resumed`,
    { suggestion: `toolable workflow resume ${id}`, details: { signal, exit_status: status } },
  )
}
