import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { inputWith } from '../common-flags.ts'
import { PROGRESS_PROPERTY } from '../progress/progress-flag.ts'

const COUNT = { type: 'integer', minimum: 1 } as const

/** `toolable agent <task>`: lets a model work with the tools of the project, as a run on record. */
export const agentCommand: ToolableCommand = {
  path: ['agent'],
  tool: tool({
    name: 'agent',
    summary: 'Let a model work on a task with the tools of this project',
    description:
      'The model calls tools until it is done; what it says is shown as it comes, and JSON mode prints one envelope. It is a run: toolable runs show|logs, watch, cancel, answer and resume work on it, and its transcript is an artifact. Destructive tools ask first: a person at the terminal, JSON lines on stdin, or toolable answer with --wait; --yes consents to all of them.',
    input: inputWith(
      {
        task: { type: 'string', minLength: 1, description: 'What is to be done' },
        model: {
          type: 'string',
          description:
            'openai:<name> for a server that speaks the protocol of OpenAI, <package>:<name> for a provider of the ai package, or ./file.mjs that exports a model; default: TOOLABLE_MODEL',
        },
        baseUrl: {
          type: 'string',
          description: 'Where the server is; default: OPENAI_BASE_URL, else that of OpenAI',
        },
        apiKeyFile: { type: 'string', description: 'A file with the key; default: OPENAI_API_KEY' },
        system: { type: 'string', description: 'Instructions for the model' },
        prompt: {
          type: 'string',
          description:
            'A module whose default export is a prompt made with sections(): it brings instructions and tools, instead of the registry',
        },
        params: { type: 'object', description: 'The params of the prompt' },
        tools: {
          type: 'array',
          items: { type: 'string' },
          description: 'Only these tools: names, ids, <source>.*; may be repeated',
        },
        maxTurns: { ...COUNT, default: 20, description: 'Replies of the model' },
        maxTotalTokens: { ...COUNT, description: 'Tokens in and out, together' },
        maxCalls: { ...COUNT, description: 'Calls of tools' },
        maxOutputTokens: { ...COUNT, description: 'Tokens of one reply' },
        parallel: {
          type: 'string',
          enum: ['safe', 'all', 'none'],
          default: 'safe',
          description: 'Calls at the same time: of read-only tools, all, or none',
        },
        wait: {
          type: 'boolean',
          description: 'Wait for toolable answer where nobody here can answer',
        },
        detach: { type: 'boolean', description: 'Run in the background' },
        progress: PROGRESS_PROPERTY,
      },
      ['task'],
    ),
    positional: ['task'],
    annotations: { openWorld: true },
    examples: [
      {
        description: 'With a model of OpenAI',
        args: ['Which of my tools is the slowest?', '--model', 'openai:gpt-5'],
      },
      {
        description: 'With a model on this machine',
        args: [
          'Tidy up the notes',
          '--model',
          'openai:qwen3',
          '--base-url',
          'http://127.0.0.1:11434/v1',
          '--tools',
          'notes.*',
        ],
      },
    ],
  }),
  start: async (input, context) => (await import('./start.ts')).startAgent(input as never, context),
}
