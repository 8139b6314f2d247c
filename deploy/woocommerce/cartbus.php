<?php
/**
 * Plugin Name: cartbus
 * Description: Tells cartbus of carts, because WooCommerce has no webhook for them, ties orders to their carts and leads back to them.
 * Version: 0.2.0
 * Requires PHP: 7.4
 * License: Apache-2.0
 *
 * Set in wp-config.php; `cartbus shop add` prints the first and the place of the second:
 *
 *   define('CARTBUS_URL', 'https://carts.example/hooks/demo/cart');
 *   define('CARTBUS_SECRET', '...');
 *   define('CARTBUS_CONSENT_TEXT', 'Remind me by mail of what I leave in my basket');     // optional: a box at the checkout
 *
 * Posts the cart as it is now whenever it changes, and once more when a shopper has typed an address at the checkout (the classic form
 * and the block). With CARTBUS_CONSENT_TEXT there is a box beside the address: while it is not ticked no address leaves the store.
 * The order gets the meta field `_cartbus_cart`, by which the order webhook (order.created, order.updated at
 * /hooks/demo/woocommerce) finds the cart. The return link puts the basket together again in any browser, from a copy that is kept
 * for 60 days; it is signed, and can do nothing but fill a basket. Nothing is posted without an item, but for a cart that was
 * emptied; nothing slows a page down: it is posted after the page was sent.
 */

defined('ABSPATH') || exit;

define('CARTBUS_KEEP_SECONDS', 60 * 24 * 3600);

/** Our name for this cart: random, kept in the session, a new one after an order. */
function cartbus_cart_id($make = true)
{
	$session = WC()->session;
	if (!$session) {
		return '';
	}
	$id = $session->get('cartbus_cart', '');
	if ($id === '' && $make) {
		$id = 'wc-' . bin2hex(random_bytes(12));
		$session->set('cartbus_cart', $id);
	}
	return (string) $id;
}

function cartbus_items()
{
	$items = array();
	foreach (WC()->cart->get_cart() as $line) {
		$product = $line['data'];
		$picture = wp_get_attachment_image_url($product->get_image_id(), 'woocommerce_thumbnail');
		$items[] = array(
			'title' => wp_strip_all_tags($product->get_name()),
			'sku' => $product->get_sku(),
			'product_id' => (string) $line['product_id'],
			'variant_id' => (string) $line['variation_id'],
			'quantity' => (int) $line['quantity'],
			'price' => wc_format_decimal(wc_get_price_including_tax($product), wc_get_price_decimals()),
			'picture' => $picture ?: null,
			'link' => $product->get_permalink(),
		);
	}
	return $items;
}

/* ---- consent ---- */

function cartbus_asks_consent()
{
	return defined('CARTBUS_CONSENT_TEXT') && CARTBUS_CONSENT_TEXT !== '';
}

/** true, false, or null: nobody was asked. */
function cartbus_consent()
{
	if (!cartbus_asks_consent() || !WC()->session) {
		return null;
	}
	$said = WC()->session->get('cartbus_consent', '');
	return $said === '' ? null : $said === 'yes';
}

/** What may leave the store of an address: all of it, or nothing where the box was not ticked. */
function cartbus_address($email)
{
	return $email !== '' && is_email($email) && (!cartbus_asks_consent() || cartbus_consent() === true) ? $email : null;
}

add_action('woocommerce_after_checkout_billing_form', function () {
	if (cartbus_asks_consent()) {
		woocommerce_form_field('cartbus_consent', array(
			'type' => 'checkbox',
			'label' => esc_html(CARTBUS_CONSENT_TEXT),
			'class' => array('form-row-wide', 'update_totals_on_change'),
		), cartbus_consent() === true);
	}
});

/* ---- posting ---- */

function cartbus_body($email)
{
	$customer = WC()->customer;
	$address = cartbus_address($email);
	$id = cartbus_cart_id();
	return array(
		'id' => wp_generate_uuid4(),
		'event' => 'changed',
		'cart' => $id,
		'at' => gmdate('Y-m-d\TH:i:s\Z'),
		'email' => $address,
		'customer_id' => get_current_user_id() ? (string) get_current_user_id() : null,
		'first_name' => $address && $customer ? $customer->get_billing_first_name() : null,
		'consent' => cartbus_consent(),
		'locale' => str_replace('_', '-', determine_locale()),
		'currency' => get_woocommerce_currency(),
		'total' => wc_format_decimal(WC()->cart->get_total('edit'), wc_get_price_decimals()),
		'recovery_url' => cartbus_return_url($id),
		'items' => cartbus_items(),
		'discount_codes' => array_values(WC()->cart->get_applied_coupons()),
	);
}

function cartbus_post($body)
{
	$text = wp_json_encode($body);
	$stamp = (string) time();
	wp_remote_post(CARTBUS_URL, array(
		'timeout' => 5,
		'headers' => array(
			'Content-Type' => 'application/json',
			'X-Cartbus-Timestamp' => $stamp,
			'X-Cartbus-Signature' => hash_hmac('sha256', $stamp . '.' . $text, CARTBUS_SECRET),
		),
		'body' => $text,
	));
}

/** Once per page, however often the cart was touched, and after the shopper has the page. */
function cartbus_later($email = '')
{
	static $planned = false, $address = '';
	$address = $email ?: $address;
	if ($planned || cartbus_is_returning() || !defined('CARTBUS_URL') || !defined('CARTBUS_SECRET') || !WC()->cart) {
		return;
	}
	$planned = true;
	add_action('shutdown', function () use (&$address) {
		if (WC()->cart->is_empty() && cartbus_cart_id(false) === '') {
			return;
		}
		$typed = WC()->session ? (string) WC()->session->get('cartbus_email', '') : '';
		$billing = WC()->customer ? (string) WC()->customer->get_billing_email() : '';
		$body = cartbus_body($address ?: ($typed ?: $billing));
		cartbus_keep($body['cart']);
		if (WC()->session) {
			WC()->session->save_data();
		}
		if (function_exists('fastcgi_finish_request')) {
			fastcgi_finish_request();
		}
		cartbus_post($body);
	});
}

foreach (array('woocommerce_add_to_cart', 'woocommerce_cart_item_removed', 'woocommerce_cart_item_restored',
	'woocommerce_after_cart_item_quantity_update', 'woocommerce_applied_coupon', 'woocommerce_removed_coupon') as $hook) {
	add_action($hook, function () {
		cartbus_later();
	}, 99, 0);
}

/* The checkout form is posted again and again while it is filled in: this is where an address is first seen, or the box ticked. */
function cartbus_typed($email, $consent)
{
	$session = WC()->session;
	if (!$session) {
		return;
	}
	$email = is_email($email) ? $email : (string) $session->get('cartbus_email', '');
	$now = array($email, $consent);
	if ($now === array((string) $session->get('cartbus_email', ''), (string) $session->get('cartbus_consent', ''))) {
		return;
	}
	$session->set('cartbus_email', $email);
	$session->set('cartbus_consent', $consent);
	if ($email !== '') {
		cartbus_later($email);
	}
}

add_action('woocommerce_checkout_update_order_review', function ($posted) {
	parse_str($posted, $fields);
	$email = isset($fields['billing_email']) ? sanitize_email(wp_unslash($fields['billing_email'])) : '';
	cartbus_typed($email, cartbus_asks_consent() ? (empty($fields['cartbus_consent']) ? 'no' : 'yes') : '');
});

/* The block's checkout. It has no box of ours: where consent is asked for, an address typed there stays in the store. */
add_action('woocommerce_store_api_cart_update_customer_from_request', function ($customer) {
	cartbus_typed((string) $customer->get_billing_email(), WC()->session ? (string) WC()->session->get('cartbus_consent', '') : '');
});

/* ---- the order ---- */

function cartbus_tie($order)
{
	$id = cartbus_cart_id(false);
	if ($id !== '') {
		$order->update_meta_data('_cartbus_cart', $id);
	}
}

add_action('woocommerce_checkout_create_order', 'cartbus_tie');
add_action('woocommerce_store_api_checkout_update_order_meta', 'cartbus_tie');

/* A next cart is another cart. */
add_action('woocommerce_thankyou', function () {
	$session = WC()->session;
	if ($session) {
		delete_transient('cartbus_' . cartbus_cart_id(false));
		foreach (array('cartbus_cart', 'cartbus_email', 'cartbus_consent') as $name) {
			$session->set($name, null);
		}
	}
});

/* ---- the way back ---- */

function cartbus_sign($id)
{
	return substr(hash_hmac('sha256', 'return ' . $id, CARTBUS_SECRET), 0, 32);
}

function cartbus_return_url($id)
{
	return add_query_arg(array('cartbus' => $id . '.' . cartbus_sign($id)), wc_get_cart_url());
}

/** What lies in the cart, so that any browser can be given it. */
function cartbus_keep($id)
{
	$lines = array();
	foreach (WC()->cart->get_cart() as $line) {
		$lines[] = array((int) $line['product_id'], (int) $line['quantity'], (int) $line['variation_id'],
			isset($line['variation']) ? $line['variation'] : array());
	}
	set_transient('cartbus_' . $id, array('lines' => $lines, 'coupons' => array_values(WC()->cart->get_applied_coupons())),
		CARTBUS_KEEP_SECONDS);
}

/** Filling the basket again is not the shopper's doing: cartbus is not told of it. */
function cartbus_is_returning($now = null)
{
	static $is_returning = false;
	$is_returning = $now === null ? $is_returning : $now;
	return $is_returning;
}

function cartbus_has_line($line)
{
	foreach (WC()->cart->get_cart() as $there) {
		if ((int) $there['product_id'] === $line[0] && (int) $there['variation_id'] === $line[2]) {
			return true;
		}
	}
	return false;
}

/** What is missing is added; what the shopper has put in since stays. */
function cartbus_restore($kept)
{
	cartbus_is_returning(true);
	foreach ($kept['lines'] as $line) {
		if (!cartbus_has_line($line)) {
			try {
				WC()->cart->add_to_cart($line[0], $line[1], $line[2], $line[3]);
			} catch (Exception $gone) {
				continue; // sold out, or no longer on sale
			}
		}
	}
	foreach ($kept['coupons'] as $code) {
		if (!in_array($code, WC()->cart->get_applied_coupons(), true)) {
			WC()->cart->apply_coupon($code);
		}
	}
}

add_action('template_redirect', function () {
	if (!isset($_GET['cartbus']) || !is_string($_GET['cartbus']) || !defined('CARTBUS_SECRET') || !WC()->cart || !WC()->session) {
		return;
	}
	$parts = explode('.', wp_unslash($_GET['cartbus']));
	if (count($parts) === 2 && hash_equals(cartbus_sign($parts[0]), $parts[1])) {
		$kept = get_transient('cartbus_' . $parts[0]);
		if (is_array($kept)) {
			WC()->session->set_customer_session_cookie(true);
			WC()->session->set('cartbus_cart', $parts[0]);
			cartbus_restore($kept);
		}
	}
	wp_safe_redirect(wc_get_cart_url());
	exit;
});
