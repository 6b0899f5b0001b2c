import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { inputWith } from '../common-flags.ts'
import { PROGRESS_PROPERTY } from '../progress/progress-flag.ts'

/** The flags of `run` and `resume`. */
export const RUN_PROPERTIES = {
  detach: {
    type: 'boolean',
    description: 'Give the id of the run at once; a process of its own goes on with it',
  },
  retries: {
    type: 'integer',
    minimum: 0,
    maximum: 10,
    description: 'How often a failure that may pass is tried again; default 3',
  },
  heartbeatGrace: {
    type: 'number',
    exclusiveMinimum: 0,
    description:
      'Seconds of silence after which a tool that speaks the protocol is ended; default 90, or HEARTBEAT_GRACE_S',
  },
  allowLevel: {
    type: 'string',
    enum: ['L1', 'L2', 'L3'],
    description: 'Run at this level where the machine cannot hold the tool better; default: refuse',
  },
  answer: {
    type: 'array',
    items: { type: 'string' },
    description: 'An answer before the tool asks: key=value, the key, id or action of the question',
  },
  wait: {
    type: 'boolean',
    description: 'Wait for toolable answer from elsewhere also where nobody here can answer',
  },
  progress: PROGRESS_PROPERTY,
} as const

/** `toolable run <tool> ...`: everything behind the name belongs to the tool. `runRun` does it; this is what help and completion know. */
export const runCommand: ToolableCommand = {
  path: ['run'],
  tool: tool({
    name: 'run',
    summary: 'Run a tool, supervised and on record',
    description:
      'Flags of the runner stand before the name of the tool; everything behind it belongs to the tool, --help too. The run has a folder of its own with its log, workspace and artifacts; deadline, heartbeats, limits and permissions are enforced; its events come as JSON lines, or as words for a person. The exit status is that of the tool; 124 is a deadline or a missed heartbeat, 130 a cancelled run. --timeout sets the deadline, --secret-file name=path gives a secret.',
    input: inputWith(
      {
        tool: { type: 'string', description: 'The name of the tool, or its id: <source>.<tool>' },
        arguments: {
          type: 'array',
          items: { type: 'string' },
          description: 'What is for the tool',
        },
        ...RUN_PROPERTIES,
        selftest: {
          type: 'boolean',
          description: 'Run the self-test that the manifest names, instead of the tool',
        },
      },
      ['tool'],
    ),
    positional: ['tool', 'arguments'],
    examples: [
      {
        description: 'In the foreground',
        args: ['--timeout', '10m', 'example_processor', 'data.json'],
      },
      { description: 'In the background', args: ['--detach', 'data_migrator'] },
    ],
  }),
}
