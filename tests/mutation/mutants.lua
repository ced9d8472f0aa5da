--[[
mutants: lines of safety, each with what is left when it is taken out.

Why: a simulator that never fails proves nothing until it has been seen to fail. scripts/dev/mutants takes
out one line at a time and runs the simulator and the property test of the window, which have to notice.

Entry: a name that says what is gone; the file; a text that occurs once in it; what replaces it.
]]
local WINDOW = "src/commit/commit_window.c"
local PARTITION = "src/engine/partition.c"
local EXCHANGE = "src/engine/exchange.c"

return {
    { "a slot is freed although it is not acked", WINDOW,
        "return !slot->outstanding && slot_get_state(slot) == SLOT_ACKED;",
        "return !slot->outstanding && slot_get_state(slot) >= SLOT_RETIRED;" },
    { "acked before all of its reports are here", WINDOW,
        "if (slot->unacked == 0 && !slot->undeliverable", "if (!slot->undeliverable" },
    { "a report that says no counts as yes", WINDOW,
        "slot->undeliverable = slot->undeliverable || failed;", "(void)failed;" },
    { "records retire before they have run", WINDOW,
        "bool ready = !slot->outstanding && outcome_retires(slot->work.outcome);",
        "bool ready = !slot->outstanding || slot_get_state(slot) == SLOT_COMPLETED;" },
    { "a failed record retires", WINDOW,
        "bool ready = !slot->outstanding && outcome_retires(slot->work.outcome);",
        "bool ready = !slot->outstanding && slot_get_state(slot) == SLOT_COMPLETED;" },
    { "a completion counts twice", WINDOW,
        "if (slot == NULL || !slot->outstanding || slot->attempt != attempt) {",
        "if (slot == NULL || slot->attempt != attempt) {" },
    { "a completion of an earlier attempt counts", WINDOW,
        "if (slot == NULL || !slot->outstanding || slot->attempt != attempt) {",
        "if (slot == NULL || !slot->outstanding) {" },
    { "a completion of another epoch counts", WINDOW,
        "bool current = epoch == win->epoch && sequence", "bool current = sequence" },
    { "the window is not held when it is full of records", WINDOW,
        "win->held = slot_ring_count(&win->ring) > win->ring.mask || win->bytes", "win->held = win->bytes" },
    { "the window is not held when it is full of bytes", WINDOW,
        "slot_ring_count(&win->ring) > win->ring.mask || win->bytes >= win->bytes_max;",
        "slot_ring_count(&win->ring) > win->ring.mask;" },
    { "commit_pos passes gaps by one", WINDOW,
        "empty ? win->last_offset + 1", "empty ? win->last_offset + 2" },
    { "commit_pos runs ahead of the head", WINDOW,
        "    win->commit_pos = next;\n", "    win->commit_pos = win->last_offset + 1;\n" },
    { "an offset that comes again is admitted", PARTITION,
        "if (commit_window_regressed(part->window, rec->offset)) {", "if (false) {" },
    { "a dead window is freed under what waits for a retry", PARTITION,
        "commit_window_waiting(part->window) == 0 && commit_window_undelivered", "commit_window_undelivered" },
    { "a dead window is freed under the workers", PARTITION,
        "           commit_window_outstanding(part->window) == 0 &&\n", "" },
    { "a retry does not block its key (K > 1)", EXCHANGE,
        "            slot->mailbox->blocker = slot;\n", "" },
    { "a retry does not block its key (K = 1)", EXCHANGE, "            box->blocker = slot;\n", "" },
    { "later records of the batch run before the retry", "src/engine/worker.c",
        "            withdraw_behind(worker, at);\n", "" },
    { "withdrawn slots come back in reverse", EXCHANGE,
        "    slot->next = box->first;\n    box->first = slot;\n    if (box->last == NULL) {\n"
            .. "        box->last = slot;\n    }",
        "    append(box, slot);" },
    { "a retry runs before it is due", PARTITION,
        "bool due = retry_queue_due_ms(&part->retries) <= now_ms;", "bool due = true; (void)now_ms;" },
    { "retries are not counted", WINDOW, "    slot->attempt++;\n", "" },
    { "a dead letter that is lost is passed over", PARTITION,
        "    if (slot->last_resort) {\n        return FAILURE_STOP;\n    }\n", "" },
    { "a dead letter counts before it is sent", PARTITION,
        "        commit_window_send_letter(part->window, slot);\n        slot_list_append(&part->letters, slot);\n",
        "        commit_window_forgive(part->window, slot);\n" },
    { "a dead letter counts before its own report", WINDOW,
        "    slot->undeliverable = false;\n    settle(slot);",
        "    slot->undeliverable = false;\n    slot_set_state(slot, SLOT_ACKED);" },
    { "a revoke does not drain", "src/engine/rebalance.c", "        partition_drain(part);\n", "" },
    { "a refused commit counts as done", "src/engine/commit_plan.c",
        "        if (entry->refused) {", "        if (false) {" },
}
