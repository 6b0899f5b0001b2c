/**
 * Every exit status of a program of ours: its name in the orchestration manifest, after sysexits,
 * and its meaning in a word or two.
 */
export const EXIT_STATUSES = [
  { status: 0, name: 'ok', meaning: 'success' },
  { status: 1, name: 'fatal_error', meaning: 'failed' },
  { status: 2, name: 'usage_error', meaning: 'wrong arguments' },
  { status: 64, name: 'syntax_error', meaning: 'unreadable arguments' },
  { status: 65, name: 'data_error', meaning: 'wrong JSON input' },
  { status: 66, name: 'no_input', meaning: 'not found' },
  { status: 69, name: 'unavailable', meaning: 'unavailable' },
  { status: 73, name: 'cannot_create', meaning: 'conflict or full disk' },
  { status: 75, name: 'retryable_error', meaning: 'try again later' },
  { status: 77, name: 'permission_denied', meaning: 'not allowed or not confirmed' },
  { status: 78, name: 'config_error', meaning: 'wrong configuration' },
  { status: 124, name: 'timeout', meaning: 'out of time' },
  { status: 129, name: 'hung_up', meaning: 'hung up' },
  { status: 130, name: 'cancelled', meaning: 'interrupted' },
  { status: 143, name: 'terminated', meaning: 'terminated' },
] as const
