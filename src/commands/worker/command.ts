import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { inputWith } from '../common-flags.ts'

/** `toolable worker`: executes workflows for a Restate server. */
export const workerCommand: ToolableCommand = {
  path: ['worker'],
  tool: tool({
    name: 'worker',
    summary: 'Execute workflows for a Restate server',
    description:
      'Listens for a Restate server, tells it so, and executes the workflows that toolable workflow run --engine restate hands to it, with the tools of this registry. Any number of workers may stand behind one address: what one of them leaves undone, another one does. Needs the package @restatedev/restate-sdk. Runs until it gets SIGINT or SIGTERM, gives running steps some seconds to end, leaves the others to other workers, and exits 0.',
    input: inputWith({
      listen: {
        type: 'string',
        default: '127.0.0.1:9080',
        description:
          'The address to bind, host:port; port 0 takes a free one. Beyond loopback a token is needed',
      },
      admin: {
        type: 'string',
        default: 'http://127.0.0.1:9070',
        description: 'The admin address of the Restate server',
      },
      advertise: {
        type: 'string',
        description:
          'The address by which the server reaches this worker, or the balancer before all of them; default: the one that it binds',
      },
      tokenFile: {
        type: 'string',
        description:
          'A file with the bearer token that requests have to carry; the server is told it. Only you may be able to read it',
      },
      grace: {
        type: 'number',
        minimum: 0,
        maximum: 3600,
        default: 10,
        description: 'Seconds that running steps get to end when the worker stops',
      },
    }),
    examples: [
      { description: 'Beside a server on this machine', args: [] },
      {
        description: 'For a server elsewhere',
        args: [
          '--listen',
          '0.0.0.0:9080',
          '--advertise',
          'http://worker-1:9080',
          '--admin',
          'http://restate:9070',
          '--token-file',
          'token.txt',
        ],
      },
    ],
  }),
  start: async (given, context) => (await import('./worker.ts')).runWorker(given as never, context),
}
