// A model that says what its script tells it, in the order of its replies.
const SCRIPTS = {
  greet: [{ text: 'I greet.', calls: [['greet', { name: 'Ada' }]] }, { text: 'Done.' }],
  mistakes: [
    { text: '', calls: [['greet', { nam: 'Ada' }]] },
    { text: '', calls: [['nothing', {}]] },
    { text: '', calls: [['refuse', {}]] },
    { text: 'I give up.' },
  ],
  wipe: [{ text: '', calls: [['wipe', {}]] }, { text: 'All gone.' }],
  choose: [{ text: '', calls: [['choose', {}]] }, { text: 'Chosen.' }],
  endless: Array.from({ length: 9 }, () => ({ text: '', calls: [['greet', { name: 'Ada' }]] })),
  talk: [{ text: 'Nothing to do.' }],
}

export default {
  name: 'scripted',
  async generate({ messages }, { onText }) {
    const { text } = messages.find(({ role }) => role === 'user')
    const script = SCRIPTS[Object.keys(SCRIPTS).find((name) => text.includes(name)) ?? 'talk']
    const turn = messages.filter(({ role }) => role === 'assistant').length
    const reply = script[turn] ?? { text: 'The end.' }
    if (reply.text !== '') onText?.(reply.text)
    return {
      text: reply.text,
      calls: (reply.calls ?? []).map(([name, input], index) => ({
        id: `call-${turn}-${index}`,
        name,
        arguments: JSON.stringify(input),
      })),
      usage: { input: 10, output: 5 },
    }
  },
}
