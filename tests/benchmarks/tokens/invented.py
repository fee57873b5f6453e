"""Two invented applications: what real traces do not have, relatives and errors that come back.

Written before anything was measured, to resemble nights people tell of:

* *shop* (Node): one change to how prices are rounded breaks three places in one night (a family:
  same module, same cause, different failing lines), beside a job and a webhook that fail on their
  own. One sibling has a further file to look at, so that the leader's finding is not all.
* *clinic* (Rails): two errors that an earlier night explained and that are back because their fix
  was not taken (the earlier cause is told, by designs that keep any); one whose trace shows only
  where a bad value is used, three files from where it is made; one raised in a library.

Where a trace names the file it names its real path. Deeper files have a plausible wrong first
guess where frameworks suggest one: a service looked for among models, a concern among controllers.
"""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.tokens.trees import neighbours, tree
from benchmarks.tokens.words import Fact, Night, Scenario, Spot

Look = tuple[str, str, int, str, str, str, str]  # name, path, line, function, symbol, text, guess

ROUNDING = "roundToMinor returns a string since amounts are formatted early"

SHOP: tuple[tuple[Scenario, Sequence[Look]], ...] = (
    (
        Scenario(
            "shop-cart", "javascript", "TypeError", "Expressjs/POST//cart/:id/lines",
            "amount.toFixed is not a function",
            "TypeError: amount.toFixed is not a function\n"
            "    at cartTotals (/srv/shop/src/services/pricing/totals.js:214:25)\n"
            "    at addLine (/srv/shop/src/routes/cart.js:96:18)\n"
            "    at Layer.handle (/srv/shop/node_modules/express/lib/router/layer.js:95:5)",
            (), ROUNDING, 310, whole=False, together=True, first_guess="src/routes/cart.js",
        ),
        (
            ("failing", "src/services/pricing/totals.js", 210, "cartTotals", "cartTotals",
             "const amount = roundToMinor(line.net, line.currency);", ""),
            ("caller", "src/routes/cart.js", 93, "addLine", "addLine",
             "const lineWithTax = withTax(req.body.line, cart.region);", ""),
            ("fault", "src/services/money/rounding.js", 132, "roundToMinor", "roundToMinor",
             "return formatMinor(Math.round(value * factor), digits);", "src/utils/money.js"),
        ),
    ),
    (
        Scenario(
            "shop-invoice", "javascript", "TypeError",
            "OtherTransaction/Nodejs/jobs/renderInvoices",
            "sum.toLocaleString is not a function of invoice 7713",
            "TypeError: sum.toLocaleString is not a function of invoice 7713\n"
            "    at invoiceRows (/srv/shop/src/services/pricing/totals.js:402:31)\n"
            "    at renderInvoices (/srv/shop/src/jobs/render_invoices.js:58:12)",
            (), ROUNDING, 120, whole=True, together=False,
            first_guess="src/jobs/renderInvoices.js",
        ),
        (
            ("failing", "src/services/pricing/totals.js", 399, "invoiceRows", "invoiceRows",
             "const sum = rows.reduce((s, r) => s + roundToMinor(r.gross, r.currency), 0);", ""),
            ("caller", "src/jobs/render_invoices.js", 55, "renderInvoices", "renderInvoices",
             "const rows = await openRows(tenant, { since: lastRun });", ""),
            ("fault", "src/services/money/rounding.js", 132, "roundToMinor", "roundToMinor",
             "return formatMinor(Math.round(value * factor), digits);", "src/utils/money.js"),
        ),
    ),
    (
        Scenario(
            "shop-refund", "javascript", "TypeError", "Expressjs/POST//orders/:id/refunds",
            "Cannot mix a string and a number: refund '12.50'",
            "TypeError: Cannot mix a string and a number: refund '12.50'\n"
            "    at refundTotals (/srv/shop/src/services/pricing/totals.js:588:14)\n"
            "    at createRefund (/srv/shop/src/routes/refunds.js:71:22)",
            (), ROUNDING, 75, whole=False, together=False, first_guess="src/routes/orders.js",
        ),
        (
            ("failing", "src/services/pricing/totals.js", 585, "refundTotals", "refundTotals",
             "const back = roundToMinor(order.paid, order.currency) - feesOf(order);", ""),
            ("ruled out", "src/services/fees/schedule.js", 77, "feesOf", "feesOf",
             "return schedule.flat + order.lines.length * schedule.perLine;",
             "src/models/fees.js"),
            ("fault", "src/services/money/rounding.js", 132, "roundToMinor", "roundToMinor",
             "return formatMinor(Math.round(value * factor), digits);", "src/utils/money.js"),
        ),
    ),
    (
        Scenario(
            "shop-feed", "javascript", "RangeError", "OtherTransaction/Nodejs/jobs/exportFeed",
            "Invalid time value in feed row 2041",
            "RangeError: Invalid time value in feed row 2041\n"
            "    at Date.toISOString (<anonymous>)\n"
            "    at feedRow (/srv/shop/src/jobs/export_feed.js:163:40)\n"
            "    at exportFeed (/srv/shop/src/jobs/export_feed.js:88:20)",
            (), "availableFrom leaves an empty string where a supplier sends no date", 64,
            whole=False, together=True, first_guess="src/jobs/exportFeed.js",
        ),
        (
            ("failing", "src/jobs/export_feed.js", 160, "feedRow", "feedRow",
             "const from = new Date(availableFrom(product));", ""),
            ("caller", "src/jobs/export_feed.js", 84, "exportFeed", "exportFeed",
             "const products = await listed(batch, { discontinued: false });", ""),
            ("ruled out", "src/repositories/products.js", 240, "listed", "listed(batch",
             "if (!options.discontinued) query.whereNull('removed_at');", "src/models/product.js"),
            ("fault", "src/suppliers/availability.js", 66, "availableFrom", "availableFrom",
             "return product.supplierDates ? product.supplierDates.first : '';",
             "src/models/product.js"),
        ),
    ),
    (
        Scenario(
            "shop-hook", "javascript", "TypeError", "Expressjs/POST//webhooks/payments",
            "Cannot read properties of undefined (reading 'captureId')",
            "TypeError: Cannot read properties of undefined (reading 'captureId')\n"
            "    at settle (/srv/shop/src/webhooks/payments.js:131:33)\n"
            "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)\n"
            "    at handle (/srv/shop/src/webhooks/payments.js:47:9)",
            (), "eventBody drops what is nested since the provider wraps captures", 41,
            whole=True, together=True, first_guess="src/routes/webhooks.js",
        ),
        (
            ("failing", "src/webhooks/payments.js", 128, "settle", "settle",
             "const capture = eventBody(event).resource.captureId;", ""),
            ("caller", "src/webhooks/payments.js", 44, "handle", "handle (",
             "await settle(JSON.parse(req.rawBody), req.providerVersion);", ""),
            ("fault", "src/webhooks/providers/body.js", 38, "eventBody", "eventBody",
             "return pick(event, FIELDS_BEFORE_WRAPPING);", "src/webhooks/events.js"),
        ),
    ),
)  # fmt: skip

CLINIC: tuple[tuple[Scenario, Sequence[Look]], ...] = (
    (
        Scenario(
            "clinic-slots", "ruby", "NoMethodError", "Controller/appointments/slots",
            "undefined method 'strftime' for nil",
            "NoMethodError (undefined method 'strftime' for nil)\n"
            "app/controllers/appointments_controller.rb:148:in 'slot_label'\n"
            "app/controllers/appointments_controller.rb:61:in 'slots'\n"
            "/usr/local/bundle/gems/actionpack-7.1.3/lib/abstract_controller/base.rb:226:in 'run'",
            (), "next_opening gives nil where a practice is closed for the whole week", 220,
            whole=False, together=True, first_guess="app/controllers/appointments_controller.rb",
            known_as="app/services/scheduling/openings.rb:92 next_opening gives nil where a "
            "practice is closed for the whole week; slot_label calls strftime on it",
        ),
        (
            ("failing", "app/controllers/appointments_controller.rb", 144, "slot_label",
             "slot_label", "starts = @practice.next_opening(after: slot.ends_at)", ""),
            ("caller", "app/controllers/appointments_controller.rb", 58, "slots", "slots",
             "labels = week.map { |slot| slot_label(slot) }", ""),
            ("fault", "app/services/scheduling/openings.rb", 97, "next_opening", "next_opening",
             "openings.find { |opening| opening.day > after && !opening.closed? }",
             "app/models/practice.rb"),
        ),
    ),
    (
        Scenario(
            "clinic-import", "ruby", "ActiveRecord::RecordInvalid",
            "OtherTransaction/Sidekiq/PatientImportJob",
            "Validation failed: Insurance number has already been taken (row 88)",
            "ActiveRecord::RecordInvalid (Validation failed: Insurance number has already been "
            "taken (row 88))\n"
            "/usr/local/bundle/gems/activerecord-7.1.3/lib/active_record/validations.rb:84:in "
            "'raise_validation_error'\n"
            "app/services/imports/patient_rows.rb:207:in 'upsert_patient'\n"
            "app/jobs/patient_import_job.rb:39:in 'perform'",
            (), "insurance_key keeps the blanks that the stored numbers do not have", 90,
            whole=True, together=False, first_guess="app/jobs/patient_import_job.rb",
            known_as="app/services/imports/normalising.rb:60 insurance_key keeps the blanks that "
            "the stored numbers do not have",
        ),
        (
            ("failing", "app/services/imports/patient_rows.rb", 203, "upsert_patient",
             "upsert_patient", "known = Patient.find_by(insurance_no: insurance_key(row))", ""),
            ("caller", "app/jobs/patient_import_job.rb", 36, "perform", "perform",
             "rows = Imports::PatientRows.new(file, practice: practice_id)", ""),
            ("fault", "app/services/imports/normalising.rb", 60, "insurance_key", "insurance_key",
             "row.fetch(:insurance_no).to_s.upcase.delete('-')",
             "app/models/concerns/normalising.rb"),
        ),
    ),
    (
        Scenario(
            "clinic-letters", "ruby", "KeyError", "Controller/letters/create",
            "key not found: :salutation",
            "KeyError (key not found: :salutation)\n"
            "app/views/letters/templates.rb:318:in 'Hash#fetch'\n"
            "app/views/letters/templates.rb:318:in 'opening_line'\n"
            "app/controllers/letters_controller.rb:77:in 'create'",
            (), "recipient_fields leaves the salutation out for practices as recipients", 55,
            whole=False, together=False, first_guess="app/controllers/letters_controller.rb",
        ),
        (
            ("failing", "app/views/letters/templates.rb", 314, "opening_line", "opening_line",
             "fields = merged_fields(letter, locale)", ""),
            ("caller", "app/controllers/letters_controller.rb", 73, "create", "create",
             "letter = Letters::Drafting.draft(letter_params)", ""),
            ("on the way", "app/services/letters/merging.rb", 142, "merged_fields",
             "merged_fields", "recipient_fields(letter.recipient).merge(sender_fields(letter))",
             "app/models/letter.rb"),
            ("fault", "app/services/recipients/fields.rb", 85, "recipient_fields",
             "recipient_fields", "return practice_fields(recipient) if recipient.practice?",
             "app/models/recipient.rb"),
        ),
    ),
    (
        Scenario(
            "clinic-search", "ruby", "Net::ReadTimeout", "Controller/patients/search",
            "Net::ReadTimeout with #<TCPSocket:(closed)>",
            "Net::ReadTimeout (Net::ReadTimeout with #<TCPSocket:(closed)>)\n"
            "/usr/local/lib/ruby/3.3.0/net/protocol.rb:229:in 'rbuf_fill'\n"
            "/usr/local/bundle/gems/searchkit-4.2.0/lib/searchkit/client.rb:71:in 'post'\n"
            "app/services/search/patient_search.rb:119:in 'matches'\n"
            "app/controllers/patients_controller.rb:44:in 'search'",
            (), "search_client is made without a timeout of its own and waits a minute", 48,
            whole=True, together=True, first_guess="app/controllers/patients_controller.rb",
        ),
        (
            ("failing", "app/services/search/patient_search.rb", 116, "matches", "matches",
             "response = search_client.post(index, query_for(term))", ""),
            ("ruled out", "app/services/search/queries.rb", 54, "query_for", "query_for",
             "{ multi_match: { query: term, fields: SEARCHED, operator: 'and' } }",
             "app/models/patient.rb"),
            ("fault", "config/initializers/search.rb", 31, "search_client", "search_client",
             "Searchkit::Client.new(url: ENV.fetch('SEARCH_URL'), retries: 0)",
             "app/services/search/client.rb"),
        ),
    ),
)  # fmt: skip


def nights() -> tuple[Night, ...]:
    """Both nights."""
    return _night("shop", "javascript", SHOP), _night("clinic", "ruby", CLINIC)


def _night(name: str, language: str, played: Sequence[tuple[Scenario, Sequence[Look]]]) -> Night:
    spots: dict[str, Spot] = {}
    scenarios = []
    for scenario, looks in played:
        facts = []
        for what, path, line, function, symbol, text, guess in looks:
            spots[text] = Spot(path, line, function, text, defines=function == symbol)
            facts.append(Fact(what, path, text, symbol, guess))
        scenarios.append(replace(scenario, facts=tuple(facts)))
    others = neighbours(dict.fromkeys(spot.path for spot in spots.values()), each=3)
    return Night(name, language, tree(language, spots.values(), others), tuple(scenarios))
