import { buildApplication, buildCommand, numberParser, run } from '@stricli/core'

const greet = buildCommand({
  docs: { brief: 'Greet somebody' },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ brief: 'Whom to greet', parse: String, placeholder: 'name' }],
    },
    flags: {
      loud: { kind: 'boolean', brief: 'Shout', default: false },
      times: { kind: 'parsed', parse: numberParser, brief: 'How often', default: '1' },
    },
  },
  func({ loud, times }, name) {
    this.process.stdout.write(
      `${JSON.stringify({ text: (loud ? 'HELLO ' : 'Hello ') + name, times })}\n`,
    )
  },
})
await run(buildApplication(greet, { name: 'greet' }), process.argv.slice(2), { process })
