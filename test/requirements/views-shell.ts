/**
 * The promises of section 10 about the frame of the dashboard, and the screens Now, Runs and
 * Decisions.
 */
export const VIEWS_SHELL: { readonly [name: string]: string } = {
  'now-first-run':
    'Where nothing has run, Now shows the commands of a first run, and gives way to it when it comes.',
  'now-live':
    'Now shows what runs as it moves: a bar only for a true percentage, the last message, the time, the silence, and then how it ended.',
  'now-silence': 'Silence is a warning at half of what is allowed, and bad past it.',
  'now-answers': 'What waits for somebody stands first on Now, and can be answered there.',
  'runs-many':
    'Ten thousand runs can be scrolled from the newest to the oldest; only what can be seen is drawn.',
  'runs-filters':
    'Filters of the list stand in the address, counts of states choose them, and a browser keeps those that got a name.',
  'runs-new':
    'New runs are announced by their number and come into the list when somebody wants to see them.',
  'runs-keys':
    'The list works from the keyboard: next, before, open, select, search; ? shows the keys.',
  'runs-selected': 'Several runs can be selected, and cancelled, started again or copied together.',
  'decisions-answer':
    'A question is answered by buttons, yes and no, or a form of its schema, with a note; who answered what stands below.',
  'decisions-faster': 'Who comes too late with an answer is told who was faster.',
  'dashboard-read-only':
    'A dashboard for reading only says so and lets nothing be answered or cancelled.',
  'dashboard-resumes':
    'A page says that the stream is lost and when it heard last, and goes on by itself after a restart of the server, without a reload.',
  'dashboard-tabs':
    'Any number of tabs of one browser show a dashboard: all of them hear the news, and none keeps another from loading.',
  'dashboard-frame':
    'Every screen has names and roles, light and dark, fits a narrow window, and shows times in UTC on request.',
}
